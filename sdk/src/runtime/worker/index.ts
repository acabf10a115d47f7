/** The exports that programs of workers use. */
export { JobFailure, Postponed, StepFailed } from './failures.ts';
export type { CreateWorker } from './lazy.ts';
export type {
  JobContext,
  JobHandler,
  StepContext,
  StepOptions,
  Worker,
  WorkerJob,
  WorkerOptions,
  WorkflowCode,
  WorkflowContext,
  WorkflowDefinition,
} from './types.ts';
