{{- define "soapbridge.labels" -}}
app.kubernetes.io/name: soapbridge
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "soapbridge.fullname" -}}
{{- if eq .Release.Name "soapbridge" }}soapbridge{{ else }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}-soapbridge{{ end }}
{{- end }}

{{- define "soapbridge.configMap" -}}
{{- if .Values.contract.existingConfigMap }}{{ .Values.contract.existingConfigMap }}
{{- else }}
{{- if not (hasKey .Values.contract.files "soapbridge.yaml") }}
{{- fail "contract: expected files with soapbridge.yaml, or existingConfigMap, got neither" }}
{{- end }}
{{- include "soapbridge.fullname" . }}-contract
{{- end }}
{{- end }}
