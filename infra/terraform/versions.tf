# No provider: what is decided here are the chart's values, and `helm` applies them (docs/guides/operator.md).
terraform {
  required_version = ">= 1.7"
}
