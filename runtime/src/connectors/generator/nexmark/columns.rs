//! The columns of Nexmark events.

use crate::graph::{Field, Schema, Ty};

/// What a column of an event is.
#[cfg(feature = "engine")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventColumn {
    EventType,
    Person,
    PersonField(PersonColumn),
    Auction,
    AuctionField(AuctionColumn),
    Bid,
    BidField(BidColumn),
}

macro_rules! columns {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident = $name:literal: $ty:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $enum {
            $($variant),*
        }

        impl $enum {
            const ALL: &'static [($enum, &'static str, Ty)] = &[$(($enum::$variant, $name, Ty::$ty)),*];

            fn record(name: &str) -> Ty {
                let fields = Self::ALL.iter().map(|(_, name, ty)| Field::new(*name, ty.clone())).collect();
                Ty::Record(Schema { name: Some(name.to_owned()), fields }).optional()
            }

            #[cfg(feature = "engine")]
            fn find(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, other, _)| *other == name).map(|(column, ..)| *column)
            }
        }
    };
}

columns! {
    /// Somebody who opens auctions and bids.
    PersonColumn {
        Id = "id": Int64,
        Name = "name": String,
        EmailAddress = "emailAddress": String,
        CreditCard = "creditCard": String,
        City = "city": String,
        State = "state": String,
        DateTime = "dateTime": Timestamp,
        Extra = "extra": String,
    }
}

columns! {
    /// Something for sale.
    AuctionColumn {
        Id = "id": Int64,
        ItemName = "itemName": String,
        Description = "description": String,
        InitialBid = "initialBid": Int64,
        Reserve = "reserve": Int64,
        DateTime = "dateTime": Timestamp,
        Expires = "expires": Timestamp,
        Seller = "seller": Int64,
        Category = "category": Int64,
        Extra = "extra": String,
    }
}

columns! {
    /// An offer for an item.
    BidColumn {
        Auction = "auction": Int64,
        Bidder = "bidder": Int64,
        Price = "price": Int64,
        Channel = "channel": String,
        Url = "url": String,
        DateTime = "dateTime": Timestamp,
        Extra = "extra": String,
    }
}

/// The columns of an event: its type (0 person, 1 auction, 2 bid) and one of the three.
pub fn schema() -> Schema {
    Schema {
        name: Some("Event".to_owned()),
        fields: vec![
            Field::new("event_type", Ty::Int32),
            Field::new("person", PersonColumn::record("Person")),
            Field::new("auction", AuctionColumn::record("Auction")),
            Field::new("bid", BidColumn::record("Bid")),
        ],
    }
}

#[cfg(feature = "engine")]
impl EventColumn {
    /// The column at this path.
    pub(super) fn find(path: &[&str]) -> Option<Self> {
        match path {
            ["event_type"] => Some(EventColumn::EventType),
            ["person"] => Some(EventColumn::Person),
            ["auction"] => Some(EventColumn::Auction),
            ["bid"] => Some(EventColumn::Bid),
            ["person", name] => PersonColumn::find(name).map(EventColumn::PersonField),
            ["auction", name] => AuctionColumn::find(name).map(EventColumn::AuctionField),
            ["bid", name] => BidColumn::find(name).map(EventColumn::BidField),
            _ => None,
        }
    }

    /// The columns there are at the place of a path that names none, for a message.
    pub(super) fn beside(path: &[&str]) -> Vec<&'static str> {
        fn names<T>(all: &'static [(T, &'static str, Ty)]) -> Vec<&'static str> {
            all.iter().map(|(_, name, _)| *name).collect()
        }
        match path {
            ["person", _] => names(PersonColumn::ALL),
            ["auction", _] => names(AuctionColumn::ALL),
            ["bid", _] => names(BidColumn::ALL),
            _ => vec!["event_type", "person", "auction", "bid"],
        }
    }
}
