// Numbers in attributes: "8", "sizeof (long)", "4 * sizeof (__u64)". Tests: tests/runtime/types (tst.attributes.d).
#include "compiler/sema/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace dvm::compiler {

namespace {

constexpr uint64_t kLargestAlignment = 16;  // of aligned without a number
constexpr uint64_t kMaxAlignment = uint64_t{1} << 28;

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

// The first such sign that stands outside of parentheses.
size_t find_outside(std::string_view text, char sign) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); at++) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0 && text[at] == sign) return at;
  }
  return std::string_view::npos;
}

// Without the parentheses around the whole of it.
std::string_view unwrapped(std::string_view text) {
  text = trim(text);
  while (text.starts_with('(') && find_outside(text, ')') == text.size() - 1) text = trim(text.substr(1, text.size() - 2));
  return text;
}

// "unsigned long", "struct tag", "struct tag *". Null: there is none.
const Type* type_named(std::string_view text, Session& s) {
  if (text.ends_with('*')) return s.types.pointer_to(s.types.basic("void"));
  const size_t space = text.find(' ');
  const std::string_view keyword = text.substr(0, space);
  if (space == std::string_view::npos || (keyword != "struct" && keyword != "union" && keyword != "enum"))
    return s.types.find(text);
  return s.types.find_tag(keyword, std::string(trim(text.substr(space))));
}

// 0: it is no such number.
uint64_t type_number(std::string_view text, Session& s) {
  for (const std::string_view word : {"sizeof", "__alignof__", "_Alignof"}) {
    if (!text.starts_with(word)) continue;
    const std::string_view rest = trim(text.substr(word.size()));
    if (!rest.starts_with('(') || !rest.ends_with(')')) return 0;
    const Type* type = type_named(trim(rest.substr(1, rest.size() - 2)), s);
    return !type ? 0 : word == "sizeof" ? resolve(*type).size : resolve(*type).align;
  }
  return 0;
}

uint64_t factor(std::string_view text, Session& s) {
  text = unwrapped(text);
  uint64_t value = 0;
  const bool is_hex = text.starts_with("0x");
  const auto [end, error] = std::from_chars(text.data() + (is_hex ? 2 : 0), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error == std::errc() &&
      std::string_view(end, text.data() + text.size()).find_first_not_of("uUlL") == std::string_view::npos)
    return value;
  return type_number(text, s);
}

uint64_t number(std::string_view text, Session& s) {
  text = unwrapped(text);
  const size_t star = find_outside(text, '*');
  if (star == std::string_view::npos) return factor(text, s);
  const uint64_t left = factor(text.substr(0, star), s), right = factor(text.substr(star + 1), s);
  return left > kMaxAlignment || right > kMaxAlignment ? 0 : left * right;
}

void add_rules(const LayoutAttributes& attributes, LayoutRules& to, Session& s) {
  to.is_packed |= attributes.is_packed;
  for (const std::string& text : attributes.alignments) {
    const uint64_t alignment = text.empty() ? kLargestAlignment : number(text, s);
    if (std::has_single_bit(alignment) && alignment <= kMaxAlignment)
      to.alignment = std::max(to.alignment, alignment);
    else
      s.error(Tag::D_DECL_ATTR, attributes.where, fmt::format("no power of two that dvm can compute: aligned({})", text));
  }
}

// A vector is laid out as an array is, but aligned as a whole.
const Type* vector_of(const Type* element, const LayoutAttributes& attributes, LayoutRules& rules, Session& s) {
  const uint64_t size = number(attributes.vector_size, s),
                 each = is_scalar(element) || is_floating(element) ? resolve(*element).size : 0;
  if (each == 0 || !std::has_single_bit(size) || size < each || size > kMaxAlignment) {
    s.error(Tag::D_DECL_ATTR, attributes.where,
            fmt::format("no vector of {}: vector_size({})", element->name, attributes.vector_size));
    return s.types.error();
  }
  rules.alignment = std::max(rules.alignment, size);
  return s.types.array_of(element, size / each);
}

}  // namespace

LayoutRules layout_rules(const LayoutAttributes& attributes, Session& s) {
  LayoutRules rules;
  add_rules(attributes, rules, s);
  return rules;
}

LayoutRules layout_rules(const LayoutAttributes& a, const LayoutAttributes& b, Session& s) {
  LayoutRules rules;
  add_rules(a, rules, s);
  add_rules(b, rules, s);
  return rules;
}

const Type* attributed_type(const Type* type, const LayoutAttributes& attributes, Session& s) {
  if (attributes.alignments.empty() && attributes.vector_size.empty()) return type;
  LayoutRules rules = layout_rules(attributes, s);
  if (!attributes.vector_size.empty()) type = vector_of(type, attributes, rules, s);
  if (is_error(type) || rules.alignment == resolve(*type).align) return type;
  Type aligned = *type;
  aligned.fields.clear();
  aligned.alias = type, aligned.own_align = rules.alignment;
  return &s.types.make(std::move(aligned));
}

}  // namespace dvm::compiler
