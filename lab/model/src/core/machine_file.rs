// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading and checking a machine file.
//!
//! Everything that can be wrong with a file is found here and reported as one line that names the file and the
//! parameter, so that the components can be built from it without further checks. Validation is driven by the table in
//! `schema.rs`; what ties several parameters together is checked at the end.

use super::schema::{self, Architecture, Kind, Schema, Spec};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;

/// A checked value. Cycles are kept in thousandths.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Integer(u64),
    /// As many ways as entries.
    Full,
    Milli(u64),
    Bool(bool),
    Choice(String),
}

/// A parameter as the file states it.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub value: Value,
    /// The range that the sources leave open, where they do.
    pub range: Option<(Value, Value)>,
    /// Where the value comes from.
    pub source: String,
}

/// A machine file for other tools.
#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    description: &'a str,
    architecture: &'static str,
    /// By SECTION.KEY.
    parameters: BTreeMap<&'a str, DescribedParameter<'a>>,
}

#[derive(Serialize)]
struct DescribedParameter<'a> {
    value: &'a Value,
    /// The range that the sources leave open, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<&'a Value>,
    source: &'a str,
}

/// A checked machine file.
#[derive(Clone, Debug)]
pub struct MachineFile {
    pub name: String,
    pub description: String,
    /// `architecture`, a string at the top: "ia32" unless the file says otherwise.
    pub architecture: Architecture,
    parameters: BTreeMap<String, Parameter>,
    origin: String,
}

impl MachineFile {
    /// Reads and checks a file. The error is one line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| format!("machine file {origin}: {e}"))?;
        Self::parse(&text, &origin)
    }

    /// Checks the text of a file; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, String> {
        Self::build(text, origin).map_err(|e| format!("machine file {origin}: {e}"))
    }

    fn build(text: &str, origin: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            let line = e.span().map_or(0, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
            format!("line {line}: {}", e.message().replace('\n', " "))
        })?;
        let architecture = match table.contains_key("architecture") {
            true => Architecture::of(&top_string(&table, "architecture")?)?,
            false => Architecture::Ia32,
        };
        let schema = schema::of(architecture);
        let mut file = MachineFile {
            name: top_string(&table, "name")?,
            description: top_string(&table, "description")?,
            architecture,
            parameters: BTreeMap::new(),
            origin: origin.to_string(),
        };
        for (section, content) in &table {
            if ["name", "description", "architecture"].contains(&section.as_str()) {
                continue;
            }
            let known: Vec<&Spec> = schema.specs.iter().filter(|s| s.section == section).collect();
            if known.is_empty() {
                return Err(format!("unknown section {section}"));
            }
            let content = content.as_table().ok_or(format!("{section} must be a section"))?;
            for (key, entry) in content {
                let path = format!("{section}.{key}");
                let spec = known.iter().find(|s| s.key == key).ok_or(format!("unknown parameter {path}"))?;
                let parameter = parse_parameter(spec.kind, entry).map_err(|e| format!("{path}: {e}"))?;
                file.parameters.insert(path, parameter);
            }
        }
        file.check_complete(&schema, &table)?;
        file.check_consistent()?;
        Ok(file)
    }

    /// Replaces a value, as from `itlb.entries:64`. The new value has to make sense, but may lie outside the range that
    /// the file gives; it loses that range, and its source says that it was set.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        self.apply(assignment).map_err(|e| format!("machine file {}: set={assignment}: {e}", self.origin))
    }

    fn apply(&mut self, assignment: &str) -> Result<(), String> {
        let (path, text) = assignment.split_once(':').ok_or("must be PARAMETER:VALUE")?;
        let schema = schema::of(self.architecture);
        let spec = schema.specs.iter().find(|s| path == format!("{}.{}", s.section, s.key));
        let spec = spec.ok_or(format!("unknown parameter {path}"))?;
        let old = self.parameters.get(path).ok_or(format!("{path} is not in this file"))?.clone();
        let value = parse_text(spec.kind, text).map_err(|e| format!("{path}: {e}"))?;
        let source = format!("set for this run (the file says {})", render(&old.value));
        self.parameters.insert(path.to_string(), Parameter { value, range: None, source });
        self.check_consistent()
    }

    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.parameters.iter().map(|(path, parameter)| (path.as_str(), parameter))
    }

    pub fn has_section(&self, section: &str) -> bool {
        self.parameters.keys().any(|p| p.split_once('.').is_some_and(|(s, _)| s == section))
    }

    pub fn value(&self, path: &str) -> Option<&Value> {
        self.parameters.get(path).map(|p| &p.value)
    }

    pub fn integer(&self, path: &str) -> Option<u64> {
        match self.value(path)? {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// Cycles in thousandths.
    pub fn milli(&self, path: &str) -> Option<u64> {
        match self.value(path)? {
            Value::Milli(n) => Some(*n),
            _ => None,
        }
    }

    pub fn flag(&self, path: &str) -> bool {
        matches!(self.value(path), Some(Value::Bool(true)))
    }

    pub fn choice(&self, path: &str) -> &str {
        match self.value(path) {
            Some(Value::Choice(text)) => text,
            _ => "",
        }
    }

    /// Ways per set of a structure with `entries` entries.
    pub fn ways(&self, path: &str, entries: u64) -> u64 {
        match self.value(path) {
            Some(Value::Integer(n)) => *n,
            _ => entries,
        }
    }

    /// The file as JSON.
    pub fn to_json(&self) -> String {
        let parameters = self.parameters.iter().map(|(path, Parameter { value, range, source })| {
            let (low, high) = range.as_ref().map(|(low, high)| (low, high)).unzip();
            (&path[..], DescribedParameter { value, low, high, source })
        });
        let described = Described {
            name: &self.name,
            description: &self.description,
            architecture: self.architecture.name(),
            parameters: parameters.collect(),
        };
        serde_json::to_string_pretty(&described).unwrap_or_default()
    }

    fn check_complete(&self, schema: &Schema, table: &toml::Table) -> Result<(), String> {
        let given = |section: &str| table.contains_key(section);
        for lists in schema.layouts {
            one_of("sections", lists, &given)?;
        }
        for spec in &schema.specs {
            if !given(spec.section) && schema.optional_section(spec.section) {
                continue;
            }
            let path = format!("{}.{}", spec.section, spec.key);
            if !self.parameters.contains_key(&path) && !schema.optional_key(spec.section, spec.key) {
                return Err(format!("missing parameter {path}"));
            }
        }
        for (section, lists) in schema.alternatives.iter().filter(|(section, _)| given(section)) {
            let has = |key: &str| self.parameters.contains_key(&format!("{section}.{key}"));
            one_of(section, lists, &has)?;
        }
        Ok(())
    }

    fn check_consistent(&self) -> Result<(), String> {
        for section in schema::TLBS.into_iter().filter(|s| self.has_section(s)) {
            self.check_ways(section, "entries", self.integer(&format!("{section}.entries")).unwrap_or(1))?;
            let large_only = self.choice(&format!("{section}.pages")) == "4m";
            if large_only != (section == "dtlb_large") {
                return Err(format!("{section}.pages: \"4m\" belongs to dtlb_large and to nothing else"));
            }
        }
        if let Some(lines) = self.integer("trace_cache.lines") {
            self.check_ways("trace_cache", "lines", lines)?;
            let line = self.integer("trace_cache.uops_per_line").unwrap_or(1);
            for (path, parameter) in self.parameters().filter(|(p, _)| p.starts_with("micro_ops.")) {
                if matches!(parameter.value, Value::Integer(n) if n > line) {
                    return Err(format!("{path}: {} do not fit into a line of {line}", render(&parameter.value)));
                }
            }
        } else if self.choice("itlb.lookup") == "trace-build" {
            return Err("itlb.lookup: \"trace-build\" needs a trace cache".into());
        }
        for section in schema::PREDICTORS {
            if let Some(entries) = self.integer(&format!("{section}.entries")) {
                self.check_ways(section, "entries", entries)?;
            }
        }
        let [all, of_traces] = schema::PREDICTORS;
        if self.has_section(of_traces) && !(self.has_section(all) && self.has_section("trace_cache")) {
            return Err(format!("{of_traces}: needs sections {all} and trace_cache"));
        }
        for section in schema::CACHES.into_iter().filter(|s| self.has_section(s)) {
            let number = |key: &str| self.integer(&format!("{section}.{key}")).unwrap_or(1);
            let (size, line) = (number("size_bytes"), number("line_bytes"));
            if !line.is_power_of_two() {
                return Err(format!("{section}.line_bytes: {line} is not a power of two"));
            }
            if size % line != 0 {
                return Err(format!("{section}.line_bytes: {line} does not divide the size {size}"));
            }
            self.check_ways(section, "size_bytes / line_bytes", size / line)?;
        }
        if self.integer("write_buffer.entry_bytes").is_some_and(|bytes| !bytes.is_power_of_two()) {
            return Err("write_buffer.entry_bytes: is not a power of two".into());
        }
        if self.choice("walker.reads_through") == "l2" && !self.has_section("l2") {
            return Err("walker.reads_through: there is no section l2".into());
        }
        if self.milli("instructions.branch_taken").is_some_and(|taken| Some(taken) < self.milli("instructions.branch"))
        {
            return Err("instructions.branch_taken: less than branch, which is its cost when not taken".into());
        }
        if self.milli("entry.iret_cycles") > self.milli("entry.int_iret_cycles") {
            return Err("entry.iret_cycles: more than int_iret_cycles, of which it is a part".into());
        }
        Ok(())
    }

    fn check_ways(&self, section: &str, what: &str, entries: u64) -> Result<(), String> {
        let path = format!("{section}.associativity");
        let ways = self.ways(&path, entries);
        if ways == 0 || !entries.is_multiple_of(ways) {
            return Err(format!("{path}: {ways} does not divide {what} = {entries}"));
        }
        let tree = self.choice(&format!("{section}.replacement")) == "pseudo-lru";
        if tree && (!ways.is_power_of_two() || ways > 128) {
            return Err(format!("{path}: {ways} ways cannot have a pseudo-lru tree (a power of two up to 128 can)"));
        }
        Ok(())
    }
}

/// What is given has to be one of `lists`, with nothing of another list beside it.
fn one_of(what: &str, lists: &[&[&str]], given: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let foreign = |list: &[&str]| lists.iter().copied().flatten().any(|name| given(name) && !list.contains(name));
    if lists.iter().any(|list| list.iter().all(|name| given(name)) && !foreign(list)) {
        return Ok(());
    }
    let wanted: Vec<String> = lists.iter().map(|list| list.join(" and ")).collect();
    Err(format!("{what}: must have exactly {}", wanted.join(", or ")))
}

fn top_string(table: &toml::Table, key: &str) -> Result<String, String> {
    let value = table.get(key).ok_or(format!("missing parameter {key}"))?;
    let text = value.as_str().ok_or(format!("{key}: must be a string"))?;
    if text.trim().is_empty() {
        return Err(format!("{key}: must not be empty"));
    }
    Ok(text.to_string())
}

fn parse_parameter(kind: Kind, entry: &toml::Value) -> Result<Parameter, String> {
    let entry = entry.as_table().ok_or("must be { value = ..., source = \"...\" }")?;
    if let Some(unknown) = entry.keys().find(|k| !["value", "low", "high", "source"].contains(&k.as_str())) {
        return Err(format!("unknown key {unknown}"));
    }
    let value = parse_value(kind, entry.get("value").ok_or("missing value")?)?;
    let source = entry.get("source").and_then(|s| s.as_str()).unwrap_or("").trim().to_string();
    if source.is_empty() {
        return Err("missing source".into());
    }
    let range = match (entry.get("low"), entry.get("high")) {
        (None, None) => None,
        (Some(low), Some(high)) => Some((parse_value(kind, low)?, parse_value(kind, high)?)),
        _ => return Err("low and high must be given together".into()),
    };
    if let Some((low, high)) = &range {
        let number = |v: &Value| match v {
            Value::Integer(n) | Value::Milli(n) => Ok(*n),
            _ => Err("only a number can have a range"),
        };
        let (l, v, h) = (number(low)?, number(&value)?, number(high)?);
        if !(l..=h).contains(&v) {
            return Err(format!("{} lies outside its range {}..{}", render(&value), render(low), render(high)));
        }
    }
    Ok(Parameter { value, range, source })
}

fn parse_value(kind: Kind, value: &toml::Value) -> Result<Value, String> {
    match value {
        toml::Value::String(text) if matches!(kind, Kind::Choice(_) | Kind::Ways) => parse_text(kind, text),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
            parse_text(kind, &value.to_string())
        }
        _ => Err(format!("{value} is not {}", expected(kind))),
    }
}

fn parse_text(kind: Kind, text: &str) -> Result<Value, String> {
    let wrong = || format!("{text} is not {}", expected(kind));
    match kind {
        Kind::Integer { min, max } => {
            let number: u64 = text.parse().map_err(|_| wrong())?;
            if (min..=max).contains(&number) {
                Ok(Value::Integer(number))
            } else {
                Err(wrong())
            }
        }
        Kind::Ways if text == "full" => Ok(Value::Full),
        Kind::Ways => match text.parse() {
            Ok(number) if number > 0 => Ok(Value::Integer(number)),
            _ => Err(wrong()),
        },
        Kind::Cycles { max } => {
            let number: f64 = text.parse().map_err(|_| wrong())?;
            let milli = number * crate::MILLI as f64;
            let whole = milli.round();
            if !(0.0..=max as f64).contains(&number) || (milli - whole).abs() > 1e-6 {
                return Err(wrong());
            }
            Ok(Value::Milli(whole as u64))
        }
        Kind::Bool => text.parse().map(Value::Bool).map_err(|_| wrong()),
        Kind::Choice(names) if names.contains(&text) => Ok(Value::Choice(text.to_string())),
        Kind::Choice(_) => Err(wrong()),
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Integer { min, max } => format!("a whole number from {min} to {max}"),
        Kind::Ways => "a whole number of ways above 0, or \"full\"".into(),
        Kind::Cycles { max } => format!("a number of cycles from 0 to {max} with at most three decimals"),
        Kind::Bool => "true or false".into(),
        Kind::Choice(names) => format!("one of {}", names.join(", ")),
    }
}

fn render(value: &Value) -> String {
    match value {
        Value::Integer(n) => n.to_string(),
        Value::Full => "full".into(),
        Value::Milli(n) => (*n as f64 / crate::MILLI as f64).to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Choice(text) => text.clone(),
    }
}

/// As a machine file has it: cycles with at most three decimals.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Integer(n) => to.serialize_u64(*n),
            Value::Full => to.serialize_str("full"),
            Value::Milli(n) if n % crate::MILLI == 0 => to.serialize_u64(n / crate::MILLI),
            Value::Milli(n) => to.serialize_f64(*n as f64 / crate::MILLI as f64),
            Value::Bool(b) => to.serialize_bool(*b),
            Value::Choice(text) => to.serialize_str(text),
        }
    }
}
