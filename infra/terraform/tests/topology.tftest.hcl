# What each topology is, and what leaves the customer's boundary in it.
variables {
  images = {
    edge    = { repository = "cogni/edge", tag = "1" }
    turn    = { repository = "cogni/turn", tag = "1" }
    console = { repository = "cogni/console", tag = "1" }
  }
}

run "self_hosted" {
  command = plan

  variables {
    topology = "SELF_HOSTED"
  }

  assert {
    condition     = length(module.control_plane) == 0
    error_message = "A self-hosted deployment has no control plane of ours."
  }

  assert {
    condition     = output.control_plane_values == null
    error_message = "There is no release of a plane that is not there."
  }

  assert {
    condition     = output.data_plane_boundary == "customer"
    error_message = "The data plane is within the customer's boundary."
  }

  assert {
    condition     = module.data_plane.values.services["console"].enabled
    error_message = "Without a control plane, the console runs beside the rest."
  }

  assert {
    condition = output.crosses_boundary == {
      corpus_at_rest = false
      transcripts    = false
      labelled_sets  = "opt-in"
    }
    error_message = "Labelled sets leave only where somebody opted in; nothing else leaves."
  }
}

run "hybrid" {
  command = plan

  variables {
    topology = "HYBRID"
  }

  assert {
    condition     = length(module.control_plane) == 1
    error_message = "A hybrid deployment has one control plane."
  }

  assert {
    condition     = output.data_plane_boundary == "customer"
    error_message = "The data plane stays within the customer's boundary."
  }

  assert {
    condition     = !module.data_plane.values.services["console"].enabled
    error_message = "The console belongs to the control plane."
  }

  assert {
    condition = output.crosses_boundary == {
      corpus_at_rest = false
      transcripts    = false
      labelled_sets  = "opt-in"
    }
    error_message = "A control plane of ours takes no content along."
  }
}

run "managed" {
  command = plan

  variables {
    topology = "MANAGED"
  }

  assert {
    condition     = length(module.control_plane) == 1
    error_message = "A managed deployment has one control plane."
  }

  assert {
    condition     = output.data_plane_boundary == "provider"
    error_message = "All of it is ours."
  }

  assert {
    condition = output.crosses_boundary == {
      corpus_at_rest = true
      transcripts    = true
      labelled_sets  = true
    }
    error_message = "In a managed deployment everything leaves, labelled sets too."
  }
}

run "another_word" {
  command = plan

  variables {
    topology = "ON_PREMISES"
  }

  expect_failures = [var.topology]
}
