import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absentUser, tenantWithApp } from './people.ts';

const deviceId = 'dev_01m7w6qgepfq9s8v83scn69599';

contract('auth Devices', (api) => {
  it('list: 200 with what the user signs in on', async () => {
    const ada = await api.tenant().withUser();
    expect((await ada.plinth.auth.devices.list()).devices).toHaveLength(1);
  });

  it('list: 404 when root names a user who does not exist', async () => {
    const nobody = (await tenantWithApp(api)).asUser(absentUser);
    await nobody.refused(404, 'user not found', ({ auth }) => auth.devices.list());
  });

  describe('one device', () => {
    it('200 when it is read, trusted and forgotten', async () => {
      const { devices } = (await api.tenant().withUser()).plinth.auth;
      const [own] = (await devices.list()).devices;
      const of = { deviceId: own!.id };
      expect(await devices.get(of)).toEqual(own);
      expect((await devices.trust(of)).id).toBe(own!.id);
      expect(await devices.untrust(of)).toMatchObject({ trusted: false });
      expect(await devices.delete(of)).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const ada = await api.tenant().withUser();
      const message = 'device not found';
      await ada.refused(404, message, ({ auth }) => auth.devices.get({ deviceId }));
      await ada.refused(404, message, ({ auth }) => auth.devices.trust({ deviceId }));
      await ada.refused(404, message, ({ auth }) => auth.devices.untrust({ deviceId }));
      await ada.refused(404, message, ({ auth }) => auth.devices.delete({ deviceId }));
    });
  });
});
