//! The user's words for rules of the grammar, for "expected …" in messages.

use crate::Rule;

/// What to call a rule; None: its tokens say enough, or it says nothing to a person.
pub fn noun(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::expr | Rule::primary | Rule::operand | Rule::expr_only => "an expression",
        Rule::name | Rule::def_name | Rule::any_word | Rule::word => "a name",
        Rule::r#type | Rule::named_type | Rule::type_only => "a type",
        Rule::string => "a string",
        Rule::number => "a number",
        Rule::column | Rule::column_only => "a column",
        Rule::option | Rule::option_only => "an option",
        Rule::hybrid_stage | Rule::hybrid_stage_only => "a stage",
        Rule::setting | Rule::setting_only => "a setting",
        Rule::select_item | Rule::select_item_only => "a column",
        Rule::enum_value | Rule::enum_value_only => "a value",
        Rule::stage | Rule::stage_only | Rule::stage_word => "an operator",
        Rule::match_arm => "an arm `value => result`",
        Rule::pattern => "a value to compare with",
        Rule::connector | Rule::connector_name => "a connector",
        Rule::fn_param => "a parameter",
        Rule::argument => "an argument",
        Rule::by_key => "a key",
        _ => return None,
    })
}
