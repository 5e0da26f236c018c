//! What an expression becomes: tokens, and how they hold the value.

use millstream_runtime::graph::Ty;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// How the tokens hold their value. For an optional type this is said of the value inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Hold {
    /// A `Copy` value.
    Copy,
    /// The name of an owned value that stays where it is: `row.carrier`.
    Place,
    /// A reference: `&str`, `&[T]`, `Option<&str>`.
    Reference,
    /// A value of its own, made by the expression.
    Owned,
}

/// A lowered expression.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct Value {
    pub(in crate::codegen) tokens: TokenStream,
    pub(in crate::codegen) hold: Hold,
    /// Whether the tokens may need parentheses before `.method()`, `?` or an operator.
    pub(in crate::codegen) open: bool,
}

impl Value {
    /// Tokens that can stand as an operand as they are: a name, a call, a literal.
    pub(in crate::codegen) fn closed(tokens: TokenStream, hold: Hold) -> Self {
        Value { tokens, hold, open: false }
    }

    /// Tokens that need parentheses as an operand: an operator, `if`, `match`, a block.
    pub(in crate::codegen) fn open(tokens: TokenStream, hold: Hold) -> Self {
        Value { tokens, hold, open: true }
    }

    /// The tokens as an operand. An open expression goes into an invisible group; printing adds parentheses where Rust
    /// needs them and nowhere else. (So no operand may stand inside a macro call, which is printed as it is.)
    pub(in crate::codegen) fn operand(&self) -> TokenStream {
        if self.open { TokenTree::from(Group::new(Delimiter::None, self.tokens.clone())).into() } else { self.tokens.clone() }
    }

    /// The value as expressions pass it on: `Copy` types as they are, all others by reference. What the reference points to
    /// may be a temporary, which lives to the end of the statement.
    pub(in crate::codegen) fn borrowed(self, ty: &Ty) -> Value {
        match self.hold {
            Hold::Copy | Hold::Reference => self,
            Hold::Place | Hold::Owned => {
                let operand = self.operand();
                let hold = Hold::Reference;
                match ty {
                    Ty::Optional(inner) => match **inner {
                        Ty::String | Ty::Bytes | Ty::List(_) => Value::closed(quote!(#operand.as_deref()), hold),
                        _ => Value::closed(quote!(#operand.as_ref()), hold),
                    },
                    Ty::String => Value::closed(quote!(#operand.as_str()), hold),
                    Ty::Bytes | Ty::List(_) => Value::closed(quote!(#operand.as_slice()), hold),
                    _ => Value::open(quote!(&#operand), hold),
                }
            }
        }
    }

    /// The value as it is stored: owned. Clones what is not.
    pub(in crate::codegen) fn owned(self, ty: &Ty) -> Value {
        match self.hold {
            Hold::Copy | Hold::Owned => self,
            Hold::Place => {
                let operand = self.operand();
                Value::closed(quote!(#operand.clone()), Hold::Owned)
            }
            Hold::Reference => {
                let (tokens, operand) = (&self.tokens, self.operand());
                let owned = match ty {
                    Ty::Optional(inner) => match **inner {
                        Ty::String => quote!(#operand.map(Str::from)),
                        Ty::Bytes | Ty::List(_) => quote!(#operand.map(<[_]>::to_vec)),
                        _ => quote!(#operand.cloned()),
                    },
                    Ty::String => quote!(Str::from(#tokens)),
                    Ty::Bytes | Ty::List(_) => quote!(#operand.to_vec()),
                    _ => quote!(#operand.clone()),
                };
                Value::closed(owned, Hold::Owned)
            }
        }
    }
}

/// How two branches of one expression hold their common value: by reference only if both do.
pub(super) fn common(values: &[&Value]) -> Hold {
    if values.iter().all(|value| value.hold == Hold::Copy) {
        Hold::Copy
    } else if values.iter().any(|value| value.hold == Hold::Owned) {
        Hold::Owned
    } else {
        Hold::Reference
    }
}

impl Value {
    /// The value held as [`common`] says.
    pub(super) fn held(self, hold: Hold, ty: &Ty) -> Value {
        match hold {
            Hold::Owned => self.owned(ty),
            _ => self.borrowed(ty),
        }
    }
}
