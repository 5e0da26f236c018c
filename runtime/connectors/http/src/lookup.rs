//! The lookup: one GET per key, whose answer is a row or a list of rows as JSON.

use std::fmt;
use std::io::Read as _;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use millstream_runtime::error::{JobError, JobResult};
use millstream_runtime::formats::{Decoder, Format};
use millstream_runtime::lookup::{Answer, KeyedTable};
use millstream_runtime::options::Options;
use millstream_runtime::record::Record;
use millstream_runtime::value::Str;
use ureq::Agent;

use crate::address::Address;
use crate::answer::{first_bytes, retry_after};
use crate::client::{agent, is_wrong, may_pass};
use crate::list::elements;

/// A longer answer is taken for a mistake.
const LONGEST: u64 = 16 * 1024 * 1024;

/// So many redirects are followed.
const REDIRECTS: u32 = 10;

/// Gets the rows of type `T` of a key.
#[derive(Clone)]
pub struct HttpLookup<T, F> {
    agent: Agent,
    address: Arc<Address>,
    authorization: Option<Arc<str>>,
    /// The columns of the key in the answer's rows; None: one has another name there.
    key: Arc<[Option<usize>]>,
    in_flight: usize,
    retries: u32,
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T, F> fmt::Debug for HttpLookup<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpLookup").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

impl<T: Record, F: Format> HttpLookup<T, F> {
    /// See the connector's options; `key` has the columns of the key in order.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let number = |name: &str, default: u64| Ok::<_, JobError>(options.unsigned(name)?.unwrap_or(default));
        let timeout = Duration::from_micros(number("timeout", 10_000_000)?);
        let in_flight = usize::try_from(number("in_flight", 16)?).unwrap_or(usize::MAX);
        if in_flight == 0 {
            return Err(JobError::new("the option `in_flight` must be more than 0"));
        }
        let place = |name: &String| T::COLUMNS.iter().position(|column| column.name == name);
        Ok(HttpLookup {
            key: options.columns("key")?.iter().map(place).collect(),
            agent: agent(timeout, REDIRECTS),
            address: Arc::new(Address::new(options.required_text("url")?, options.columns("key")?)?),
            authorization: options.text("authorization")?.filter(|value| !value.is_empty()).map(Arc::from),
            in_flight,
            retries: u32::try_from(number("retries", 5)?).unwrap_or(u32::MAX),
            format: millstream_runtime::connectors::format_of(options)?,
            row: PhantomData,
        })
    }

    fn get(&self, url: &str) -> Result<(ureq::http::StatusCode, Option<String>, Vec<u8>), ureq::Error> {
        let mut request = self.agent.get(url).header("Accept", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", &**authorization);
        }
        let mut response = request.call()?;
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        response.body_mut().as_reader().take(LONGEST + 1).read_to_end(&mut body)?;
        Ok((response.status(), after, body))
    }

    fn rows(&self, body: &[u8]) -> Result<Vec<T>, String> {
        if body.len() as u64 > LONGEST {
            return Err(format!("the answer is longer than {} MB", LONGEST / 1024 / 1024));
        }
        let mut decoder = self.format.decoder::<T>(None).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        for element in elements(body)? {
            match decoder.decode(element) {
                Ok(row) => rows.extend(row),
                Err(error) => return Err(format!("{error}{}", first_bytes(&String::from_utf8_lossy(element)))),
            }
        }
        Ok(rows)
    }

    /// Rows of the key that was asked for, or what is wrong with another.
    fn of_key(&self, asked: &[Str], rows: Vec<T>) -> Result<Vec<T>, String> {
        for row in &rows {
            for (index, asked) in self.key.iter().zip(asked).filter_map(|(index, asked)| Some(((*index)?, asked))) {
                let (name, ty) = (T::COLUMNS[index].name, (T::COLUMNS[index].ty)());
                let text = row.column_text(index);
                if text.as_deref().is_some_and(|text| same(&ty, text, asked)) {
                    continue;
                }
                return Err(match text {
                    Some(text) => format!("the answer is a row with {name} = {text}, which is not the key that was asked for"),
                    None => format!("the answer is a row without {name}, which is the key that was asked for"),
                });
            }
        }
        Ok(rows)
    }
}

/// Whether two texts are one value of this type: of decimals `1.5` is `1.50`, whatever their length.
pub(crate) fn same(ty: &str, a: &str, b: &str) -> bool {
    a == b
        || ty.starts_with("float") && matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
        || ty.starts_with("decimal") && matches!((digits(a), digits(b)), (Some(a), Some(b)) if a == b)
}

/// The sign and the digits before and behind the point, without zeros that say nothing. None: that is no plain number.
fn digits(text: &str) -> Option<(bool, &str, &str)> {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |unsigned| (true, unsigned));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let plain = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    Some((negative && !(whole.is_empty() && fraction.is_empty()), whole, fraction))
}

impl<T: Record + Send + Sync + 'static, F: Format> KeyedTable for HttpLookup<T, F> {
    type Row = T;

    fn ask(&self, key: &[Str]) -> Answer<T> {
        let shown = |what: fmt::Arguments<'_>| format!("GET {}: {what}", self.address.shown(key));
        let Some(url) = self.address.of(key) else { return Answer::Rows(Vec::new()) };
        let (status, after, body) = match self.get(&url) {
            Ok(answer) => answer,
            Err(error) if is_wrong(&error) => return Answer::Failed(JobError::new(shown(format_args!("{error}")))),
            Err(error) => return Answer::Retry { reason: shown(format_args!("{error}")), after: None },
        };
        let refused = || {
            let reason = status.canonical_reason().unwrap_or_default();
            shown(format_args!("{} {reason}{}", status.as_u16(), first_bytes(&String::from_utf8_lossy(&body))))
        };
        match status.as_u16() {
            204 | 404 => Answer::Rows(Vec::new()),
            200..=299 => match self.rows(&body).and_then(|rows| self.of_key(key, rows)) {
                Ok(rows) => Answer::Rows(rows),
                Err(reason) => Answer::Failed(JobError::new(shown(format_args!("{reason}")))),
            },
            code if may_pass(code) => {
                let after = after.and_then(|text| retry_after(&text, SystemTime::now()));
                Answer::Retry { reason: refused(), after }
            }
            _ => Answer::Failed(JobError::new(refused())),
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn retries(&self) -> u32 {
        self.retries
    }
}
