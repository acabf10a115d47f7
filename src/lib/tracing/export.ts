import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../version.ts';
import { measureWith } from './spans.ts';

/** Milliseconds for the spans that are left when the server ends. */
const lastExportMs = 2_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the standard variables of OpenTelemetry name a collector and do not switch it off. */
export const isExported = (environment: Environment): boolean =>
  Boolean(environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT']) &&
  environment['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  environment['OTEL_TRACES_EXPORTER'] !== 'none';

/**
 * Sends spans to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, over HTTP. The exporter reads its other `OTEL_*` variables
 * itself, such as headers, certificates and the sampler. A collector that cannot be reached slows nothing down: spans are dropped
 * when their queue is full. Returns a function that sends what is left.
 */
export async function exportSpans(): Promise<() => Promise<void>> {
  const [{ BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const own = resources.resourceFromAttributes({ 'service.name': 'plinth', 'service.version': version });
  const given = resources.detectResources({ detectors: [resources.envDetector, resources.hostDetector] });
  const provider = new BasicTracerProvider({
    resource: resources.defaultResource().merge(own).merge(given),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  measureWith(provider.getTracer('plinth', version));
  return async () => {
    measureWith(undefined);
    // What the collector does not take within this time is lost, and the server ends all the same.
    const late = delay(lastExportMs, undefined, { ref: false });
    await Promise.race([provider.shutdown().catch(() => {}), late]);
  };
}
