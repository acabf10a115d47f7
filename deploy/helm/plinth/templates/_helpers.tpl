{{- define "plinth.name" -}}
{{- $name := ternary .Release.Name (printf "%s-plinth" .Release.Name) (contains "plinth" .Release.Name) }}
{{- $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "plinth.selector" -}}
app.kubernetes.io/name: plinth
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Whether several pods may run at once, now or later. */}}
{{- define "plinth.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{- define "plinth.labels" -}}
{{ include "plinth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "plinth.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What the server and the migration have in common. */}}
{{- define "plinth.environment" -}}
- name: PLINTH_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
- name: PLINTH_DRAIN
  value: {{ .Values.drain | quote }}
{{- with .Values.services }}
- name: PLINTH_SERVICES
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.trustedProxy }}
- name: PLINTH_TRUSTED_PROXY
  value: {{ join "," . | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "plinth.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "plinth.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}
