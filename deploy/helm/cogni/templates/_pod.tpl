{{- define "cogni.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{/* {root, name} → labels that a selector uses; they never change */}}
{{- define "cogni.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "cogni.labels" -}}
{{ include "cogni.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "cogni.image" -}}
{{- $all := .root.Values.image -}}
{{- $tag := .service.image.tag | default $all.tag | default .root.Chart.AppVersion -}}
{{- with $all.registry }}{{ . }}/{{ end }}{{ .service.image.repository }}:{{ $tag }}
{{- end }}

{{/* What every pod is: nobody in particular, without a token, on a file system that it cannot change. */}}
{{- define "cogni.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .service.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .service.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .service.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: {{ .service.scratch | default "1Gi" }}}
  {{- if and .service.enabled .service.data }}
  - name: data
    persistentVolumeClaim: {claimName: {{ include "cogni.name" .root }}-{{ .name }}}
  {{- end }}
  {{- range $secret, $folder := .service.files }}
  - name: {{ $secret }}
    secret: {secretName: {{ $secret }}, defaultMode: 0440}
  {{- end }}
{{- end }}

{{- define "cogni.container" -}}
image: {{ include "cogni.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- with mergeOverwrite (dict) .root.Values.env (.service.env | default dict) }}
env:
  {{- range $key, $value := . }}
  - name: {{ $key }}
    value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- with concat .root.Values.secrets (.service.secrets | default list) (.secrets | default list) | uniq }}
envFrom:
  {{- range . }}
  - secretRef: {name: {{ . }}}
  {{- end }}
{{- end }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- if and .service.enabled .service.data }}
  - {name: data, mountPath: /data}
  {{- end }}
  {{- range $secret, $folder := .service.files }}
  - {name: {{ $secret }}, mountPath: {{ $folder }}, readOnly: true}
  {{- end }}
{{- end }}
