//! Signatures of library functions, in the language's own words: `split_index(text: string, separator: string, index: int64) -> string?`.
//!
//! Read by the compiler, which types calls with them, and by the manual. A parameter written `name?: type` may be left
//! out; `T...` as the last parameter takes one or more arguments.

use super::ty::Ty;

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub name: String,
    pub params: Vec<Parameter>,
    pub result: Pattern,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub ty: Pattern,
    /// `name?: type`: may be left out.
    pub optional: bool,
    /// `name: type...`: one or more arguments.
    pub repeated: bool,
}

/// A type with variables.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Exactly(Ty),
    /// `T`, `U`, `K`, `V` any type; `N` any numeric type; `I` any integer; `F` any float; `O` any ordered type.
    Variable(char),
    /// A decimal of any precision and scale.
    Decimal,
    /// A string that is a regular expression.
    Regex,
    List(Box<Pattern>),
    Map(Box<Pattern>, Box<Pattern>),
    Optional(Box<Pattern>),
}

impl Signature {
    /// Reads a signature; the message says what is wrong with it.
    pub fn parse(text: &str) -> Result<Signature, String> {
        let mut reader = Reader { rest: text };
        let name = reader.word()?.to_owned();
        reader.expect("(")?;
        let mut params = Vec::new();
        while !reader.eat(")") {
            if !params.is_empty() {
                reader.expect(",")?;
            }
            params.push(reader.parameter()?);
        }
        reader.expect("->")?;
        let result = reader.pattern()?;
        if !reader.rest.trim().is_empty() {
            return Err(format!("`{}` is left over", reader.rest.trim()));
        }
        let last = params.len().saturating_sub(1);
        if params.iter().enumerate().any(|(index, param)| param.repeated && index != last) {
            return Err("only the last parameter can be repeated".to_owned());
        }
        Ok(Signature { name, params, result })
    }

    /// How many arguments are needed at least.
    pub fn least(&self) -> usize {
        self.params.iter().filter(|param| !param.optional).count()
    }

    /// How many arguments are taken at most; None: any number.
    pub fn most(&self) -> Option<usize> {
        match self.params.last() {
            Some(param) if param.repeated => None,
            _ => Some(self.params.len()),
        }
    }

    /// The parameter that takes the argument at this place.
    pub fn parameter(&self, index: usize) -> Option<&Parameter> {
        self.params.get(index).or_else(|| self.params.last().filter(|param| param.repeated))
    }
}

/// The scalar type of this name, for those without parameters.
pub fn scalar(name: &str) -> Option<Ty> {
    Some(match name {
        "bool" => Ty::Bool,
        "int8" => Ty::Int8,
        "int16" => Ty::Int16,
        "int32" => Ty::Int32,
        "int64" => Ty::Int64,
        "uint8" => Ty::UInt8,
        "uint16" => Ty::UInt16,
        "uint32" => Ty::UInt32,
        "uint64" => Ty::UInt64,
        "float32" => Ty::Float32,
        "float64" => Ty::Float64,
        "string" => Ty::String,
        "bytes" => Ty::Bytes,
        "date" => Ty::Date,
        "time" => Ty::Time,
        "timestamp" => Ty::Timestamp,
        "duration" => Ty::Duration,
        "uuid" => Ty::Uuid,
        "json" => Ty::Json,
        _ => return None,
    })
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(format!("expected `{token}` before `{}`", self.rest)),
        }
    }

    fn word(&mut self) -> Result<&'a str, String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end == 0 {
            return Err(format!("expected a name before `{rest}`"));
        }
        self.rest = &rest[end..];
        Ok(&rest[..end])
    }

    fn parameter(&mut self) -> Result<Parameter, String> {
        let name = self.word()?.to_owned();
        let optional = self.eat("?");
        self.expect(":")?;
        let ty = self.pattern()?;
        let repeated = self.eat("...");
        Ok(Parameter { name, ty, optional, repeated })
    }

    fn pattern(&mut self) -> Result<Pattern, String> {
        let word = self.word()?;
        let pattern = match word {
            "list" => {
                self.expect("<")?;
                let item = self.pattern()?;
                self.expect(">")?;
                Pattern::List(Box::new(item))
            }
            "map" => {
                self.expect("<")?;
                let key = self.pattern()?;
                self.expect(",")?;
                let value = self.pattern()?;
                self.expect(">")?;
                Pattern::Map(Box::new(key), Box::new(value))
            }
            "regex" => Pattern::Regex,
            "decimal" if self.eat("(") => {
                let precision = self.number()?;
                self.expect(",")?;
                let scale = self.number()?;
                self.expect(")")?;
                Pattern::Exactly(Ty::Decimal { precision, scale })
            }
            "decimal" => Pattern::Decimal,
            "T" | "U" | "K" | "V" | "N" | "I" | "F" | "O" => Pattern::Variable(word.chars().next().unwrap_or('T')),
            other => Pattern::Exactly(scalar(other).ok_or_else(|| format!("unknown type `{other}`"))?),
        };
        Ok(match self.eat("?") {
            true => Pattern::Optional(Box::new(pattern)),
            false => pattern,
        })
    }

    fn number(&mut self) -> Result<u8, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("expected a number instead of `{word}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_forms() {
        let signature = Signature::parse("f(text: string, pattern: regex, n?: int64, rest: list<T?>...) -> map<K, V>?").unwrap();
        assert_eq!(signature.name, "f");
        assert_eq!((signature.least(), signature.most()), (3, None));
        assert_eq!(signature.params[1].ty, Pattern::Regex);
        assert!(signature.params[2].optional && signature.params[3].repeated);
        assert_eq!(signature.parameter(9), signature.params.last());
        assert!(matches!(signature.result, Pattern::Optional(_)));
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(Signature::parse("f(a: strin) -> bool").unwrap_err().contains("strin"));
        assert!(Signature::parse("f(a: T..., b: T) -> bool").is_err());
        assert!(Signature::parse("f(a: T) -> bool x").is_err());
    }

    /// Every function and aggregate of the library has a signature that reads, under its own name.
    #[test]
    fn the_library_is_readable() {
        let functions = crate::functions::FUNCTIONS.iter().map(|spec| (spec.name, spec.signature));
        let aggregates = crate::aggregates::AGGREGATES.iter().map(|spec| (spec.name, spec.signature));
        for (name, signature) in functions.chain(aggregates) {
            let read = Signature::parse(signature).unwrap_or_else(|message| panic!("{signature}: {message}"));
            assert_eq!(read.name, name);
        }
    }
}
