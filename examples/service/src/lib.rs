//! The routes of the service, and the task that keeps what they serve.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, response::Result};
use millstream::connectors::channel::{Receiver, Sender};
use millstream::record::Change;
use millstream::value::Decimal;
use serde::{Deserialize, Serialize};

millstream::include_pipelines!("pipelines");

/// What is sent: `{"customer": "ann", "amount": "12.50"}`.
#[derive(Deserialize)]
struct NewOrder {
    customer: String,
    amount: String,
}

/// What is served for each customer.
#[derive(Clone, Serialize)]
struct Total {
    orders: i64,
    total: String,
}

type Totals = Arc<Mutex<BTreeMap<String, Total>>>;

#[derive(Clone)]
struct Service {
    orders: Sender<revenue::Order>,
    totals: Totals,
}

/// The routes. When the router is dropped, so is the last sender, and the job ends.
pub fn routes(orders: Sender<revenue::Order>, changes: Receiver<Change<revenue::Totals>>) -> Router {
    let totals = Totals::default();
    tokio::spawn(keep(changes, totals.clone()));
    Router::new().route("/orders", post(add)).route("/totals", get(show)).with_state(Service { orders, totals })
}

/// The table as it stands after every change.
async fn keep(mut changes: Receiver<Change<revenue::Totals>>, totals: Totals) {
    while let Some(Change { kind, row }) = changes.recv().await {
        let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
        let customer = row.customer.to_string();
        match kind.adds() {
            true => drop(totals.insert(customer, Total { orders: row.orders, total: row.total.to_string() })),
            false => drop(totals.remove(&customer)),
        }
    }
}

/// Waits while the job is behind: so does the client.
async fn add(State(service): State<Service>, Json(order): Json<NewOrder>) -> Result<StatusCode> {
    let Ok(amount) = Decimal::parse(&order.amount) else {
        return Err((StatusCode::UNPROCESSABLE_ENTITY, "`amount` is no decimal such as \"12.50\"").into());
    };
    let order = revenue::Order { customer: order.customer.into(), amount };
    service.orders.send(order).await.map_err(|closed| (StatusCode::SERVICE_UNAVAILABLE, closed.to_string()))?;
    Ok(StatusCode::ACCEPTED)
}

async fn show(State(service): State<Service>) -> Json<BTreeMap<String, Total>> {
    Json(service.totals.lock().unwrap_or_else(PoisonError::into_inner).clone())
}
