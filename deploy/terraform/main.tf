# The virtual host "shop" with a user, a queue, an exchange and a policy, using Terraform's provider
# for RabbitMQ. Run `terraform init`, then
#   TF_VAR_password=… TF_VAR_app_password=… terraform apply
# The provider uses the HTTP API. Its password is that of user admin, who must be an administrator.
terraform {
  required_providers {
    rabbitmq = {
      source  = "cyrilgdn/rabbitmq"
      version = "~> 1.8"
    }
  }
}

variable "password" {
  sensitive = true
}

variable "app_password" {
  sensitive = true
}

provider "rabbitmq" {
  endpoint = "http://127.0.0.1:15672"
  username = "admin"
  password = var.password
}

resource "rabbitmq_vhost" "shop" {
  name = "shop"
}

resource "rabbitmq_user" "app" {
  name     = "app"
  password = var.app_password
  tags     = ["management"]
}

resource "rabbitmq_permissions" "app" {
  user  = rabbitmq_user.app.name
  vhost = rabbitmq_vhost.shop.name

  permissions {
    configure = "^app-"
    write     = "^(app-|orders$|amq\\.default$)"
    read      = "^(app-|mails$)"
  }
}

resource "rabbitmq_exchange" "orders" {
  name  = "orders"
  vhost = rabbitmq_vhost.shop.name

  settings {
    type        = "topic"
    durable     = true
    auto_delete = false
  }
}

resource "rabbitmq_queue" "mails" {
  name  = "mails"
  vhost = rabbitmq_vhost.shop.name

  settings {
    durable     = true
    auto_delete = false
    arguments_json = jsonencode({
      "x-queue-type"     = "quorum"
      "x-delivery-limit" = 5
    })
  }
}

resource "rabbitmq_binding" "mails" {
  source           = rabbitmq_exchange.orders.name
  vhost            = rabbitmq_vhost.shop.name
  destination      = rabbitmq_queue.mails.name
  destination_type = "queue"
  routing_key      = "order.*"
}

resource "rabbitmq_policy" "limits" {
  name  = "limits"
  vhost = rabbitmq_vhost.shop.name

  policy {
    pattern  = "^mails$"
    priority = 1
    apply_to = "queues"

    definition = {
      "max-length" = 100000
    }
  }
}
