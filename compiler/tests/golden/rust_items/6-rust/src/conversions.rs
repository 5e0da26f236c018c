//! Between the rows of this job and the types of its Rust files.

use millstream::codegen::*;
use crate::types;

impl Convert<crate::items::Block> for types::Block {
    #[inline]
    fn convert(self) -> crate::items::Block {
        crate::items::Block {
            number: Convert::convert(self.number),
            at: Convert::convert(self.at),
        }
    }
}

impl Convert<types::Block> for crate::items::Block {
    #[inline]
    fn convert(self) -> types::Block {
        types::Block {
            number: Convert::convert(self.number),
            at: Convert::convert(self.at),
        }
    }
}

impl Convert<crate::items::Limit> for types::Limit {
    #[inline]
    fn convert(self) -> crate::items::Limit {
        crate::items::Limit {
            most: Convert::convert(self.most),
        }
    }
}

impl Convert<types::Limit> for crate::items::Limit {
    #[inline]
    fn convert(self) -> types::Limit {
        types::Limit {
            most: Convert::convert(self.most),
        }
    }
}

impl Convert<crate::items::Payment> for types::Payment {
    #[inline]
    fn convert(self) -> crate::items::Payment {
        crate::items::Payment {
            card: Convert::convert(self.card),
            amount: Convert::convert(self.amount),
            at: Convert::convert(self.at),
        }
    }
}

impl Convert<types::Payment> for crate::items::Payment {
    #[inline]
    fn convert(self) -> types::Payment {
        types::Payment {
            card: Convert::convert(self.card),
            amount: Convert::convert(self.amount),
            at: Convert::convert(self.at),
        }
    }
}
