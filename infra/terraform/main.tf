locals {
  boundary = var.topology == "MANAGED" ? "provider" : "customer"
}

module "model_route" {
  source    = "./modules/model_route"
  offered   = var.model_providers
  residency = var.residency
}

module "request_path" {
  source                   = "./modules/request_path"
  concurrent_conversations = var.concurrent_conversations
}

module "index_pipeline" {
  source                     = "./modules/index_pipeline"
  documents_changed_per_hour = var.documents_changed_per_hour
}

module "ambient" {
  source  = "./modules/ambient"
  editors = var.editors
  ceiling = var.ambient_ceiling
}

module "render_workers" {
  source      = "./modules/render_workers"
  render_jobs = var.render_jobs
}

# In every topology; within the customer's boundary for SELF_HOSTED and HYBRID.
module "data_plane" {
  source   = "./modules/data_plane"
  boundary = local.boundary
  images   = var.images
  servers  = var.servers
  secrets  = var.secrets
  kafka    = var.kafka_bootstrap_servers
  env      = module.model_route.env
  # without a control plane of ours, the console runs beside the rest
  console = var.topology == "SELF_HOSTED"
  sizes = merge(
    module.request_path.services,
    module.index_pipeline.services,
    module.ambient.services,
    module.render_workers.services,
  )
}

module "control_plane" {
  count   = var.topology == "SELF_HOSTED" ? 0 : 1
  source  = "./modules/control_plane"
  images  = var.images
  servers = var.servers
  secrets = var.secrets
}
