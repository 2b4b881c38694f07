{{- define "soapbridge.labels" -}}
app.kubernetes.io/name: soapbridge
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "soapbridge.fullname" -}}
{{- if eq .Release.Name "soapbridge" }}soapbridge{{ else }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}-soapbridge{{ end }}
{{- end }}

{{- define "soapbridge.probe" -}}
{{- $root := index . 0 -}}
httpGet:
  path: {{ index . 1 }}
  {{- if $root.Values.admin.port }}
  port: admin
  scheme: {{ $root.Values.admin.scheme }}
  {{- else }}
  port: http
  scheme: {{ $root.Values.scheme }}
  {{- end }}
{{ toYaml (index . 2) }}
{{- end }}

{{- define "soapbridge.configMap" -}}
{{- if .Values.contract.existingConfigMap }}{{ .Values.contract.existingConfigMap }}
{{- else }}
{{- if not (hasKey .Values.contract.files "soapbridge.yaml") }}
{{- fail "contract: expected files with soapbridge.yaml, existingConfigMap or path, got none" }}
{{- end }}
{{- include "soapbridge.fullname" . }}-contract
{{- end }}
{{- end }}
