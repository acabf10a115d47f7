alter table auth.clients add column logo_url text;

update auth.apps set settings = '{"home_url": null}' || settings;

-- A branding from before there was a choice keeps its appearance, unless its background is the default one.
alter table auth.branding add column color_scheme text;
update auth.branding set color_scheme = case
  when background_color = '#ffffff' then 'system'
  when 0.2126 * power(('x' || substr(background_color, 2, 2))::bit(8)::integer / 255.0, 2.2)
    + 0.7152 * power(('x' || substr(background_color, 4, 2))::bit(8)::integer / 255.0, 2.2)
    + 0.0722 * power(('x' || substr(background_color, 6, 2))::bit(8)::integer / 255.0, 2.2) < 0.179 then 'dark'
  else 'light'
end;
alter table auth.branding alter column color_scheme set not null;
