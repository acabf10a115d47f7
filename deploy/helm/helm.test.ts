/**
 * The chart. Where helm is installed, it lints the chart and renders it anew; elsewhere the rendered chart that is kept has to be the one
 * of these templates.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { PersistentVolumeClaim, Service, ServiceAccount } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadServices, serviceNames } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';

interface Resource {
  kind: string;
  metadata: { name: string };
  spec: {
    selector?: { matchLabels: Record<string, string> };
    template?: {
      metadata: { labels: Record<string, string> };
      spec: {
        nodeSelector?: object;
        containers: { env: { name: string }[]; envFrom: object[]; securityContext: object }[];
      };
    };
  };
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const chart = join(folder, 'plinth');
const rendered = await readFile(join(folder, 'rendered.yaml'), 'utf8');
const resourcesIn = (text: string) => parseAllDocuments(text).map((one) => one.toJS() as Resource);
const resources = resourcesIn(rendered);
const only = (kind: string) => resources.find((one) => one.kind === kind)!;
const values = async (name: string) => parse(await readFile(join(folder, name), 'utf8')) as object;

/** The digest of everything that rendering reads. */
async function digestOfChart(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(folder, 'example.yaml')));
  const files = [
    'Chart.yaml',
    'values.yaml',
    ...(await readdir(join(chart, 'templates'))).map((one) => `templates/${one}`),
  ];
  for (const file of files.sort()) hash.update(file).update(await readFile(join(chart, file)));
  return hash.digest('hex');
}

function helm(...words: string[]): string | undefined {
  try {
    return execFileSync('helm', words, { encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

test('the rendered chart is the one of these templates', async () => {
  const example = join(folder, 'example.yaml');
  const anew = helm('template', 'plinth', chart, '--values', example);
  if (anew === undefined) {
    const digest = /^# (\w{64})$/m.exec(rendered)?.[1];
    expect(digest, 'render the chart again: deploy/helm/README.md').toBe(await digestOfChart());
    return;
  }
  helm('lint', chart, '--values', example);
  const byName = (one: Resource) => `${one.kind} ${one.metadata.name}`;
  const sorted = (all: Resource[]) => all.toSorted((one, other) => (byName(one) < byName(other) ? -1 : 1));
  expect(sorted(resourcesIn(anew))).toEqual(sorted(resources));
});

const models = {
  Deployment,
  Job,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  PersistentVolumeClaim,
  Service,
  ServiceAccount,
};

test.each(Object.entries(models))('the %s is one', (kind, Model) => {
  new Model(only(kind) as never).validate();
});

test('nothing is rendered that has no schema, but for the resource of the Prometheus operator', () => {
  const kinds = resources.map(({ kind }) => kind).filter((kind) => !(kind in models));
  expect(kinds).toEqual(['ServiceMonitor']);
});

test('the budget selects the pods of the deployment, and not the one that migrates', () => {
  const { matchLabels } = only('PodDisruptionBudget').spec.selector!;
  expect(only('Deployment').spec.template!.metadata.labels).toMatchObject(matchLabels);
  expect(only('Job').spec.template!.metadata.labels).not.toMatchObject(matchLabels);
});

test.each(['Deployment', 'Job'])(
  'the %s has settings that exist and can write nowhere but to its volume',
  async (kind) => {
    const modules = await loadServices(serviceNames);
    const [container] = only(kind).spec.template!.spec.containers;
    const names = container!.env.map(({ name }) => name).filter((name) => name.startsWith('PLINTH_'));
    expect(names).toContain('PLINTH_PUBLIC_URL');
    for (const name of names) expect(() => readConfig(modules, {}, { [name]: '' })).not.toThrow();
    expect(container!.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
  },
);

test('the job that migrates runs where the pods run, and knows the same secrets', () => {
  const [pods, job] = ['Deployment', 'Job'].map((kind) => only(kind).spec.template!.spec);
  expect(job!.nodeSelector).toEqual(pods!.nodeSelector);
  expect(job!.containers[0]!.env).toEqual(pods!.containers[0]!.env);
  expect(job!.containers[0]!.envFrom).toEqual(pods!.containers[0]!.envFrom);
});

describe('the values', async () => {
  const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')) as object;
  const isValid = new Ajv({ allowUnionTypes: true }).compile(schema);

  test('fit their schema when what has no default is given', async () => {
    const own = { ...(await values('plinth/values.yaml')), ...(await values('example.yaml')) };
    isValid(own);
    expect(isValid.errors).toBeNull();
  });

  test.each([
    [{ publicUrl: 'plinth.example.com' }, '/publicUrl'],
    [{ existingSecret: '' }, '/existingSecret'],
    [{ replicas: 0 }, '/replicas'],
    [{ extraEnv: [{ value: 'x' }] }, '/extraEnv/0'],
    [{ networkPolicy: { enable: true } }, '/networkPolicy'],
    [{ setings: {} }, ''],
    [{ settings: { plinth_workers: 2 } }, '/settings'],
  ])('%o is refused', async (wrong, where) => {
    const own = { ...(await values('plinth/values.yaml')), ...(await values('example.yaml')), ...wrong };
    expect(isValid(own)).toBe(false);
    expect(isValid.errors?.map(({ instancePath }) => instancePath)).toContain(where);
  });
});
