// Ends of items, names of types, bad tokens. Tests: tests/golden/parse.
#include "compiler/parse/lexer.h"

#include <algorithm>

#include "compiler/parse/attributes.h"
#include "compiler/parse/foreign_name.h"
#include "compiler/source/words.h"

namespace dvm::compiler {

namespace {

bool is_word(std::string_view text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         text.find('`') == std::string_view::npos;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; }

// Behind the '>' that belongs to the '<' at this place; npos: there is none in the line.
size_t end_of_template_arguments(std::string_view text, size_t at) {
  unsigned depth = 0;
  for (; at < text.size() && std::string_view(";{}\"\n").find(text[at]) == std::string_view::npos; at++) {
    depth += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace

Lexer::Lexer(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics)
    : DLexer(nullptr), file_(file), diagnostics_(diagnostics), type_names_(type_names), matcher_(*this) {}

std::vector<Token> Lexer::run() {
  while (at_ < file_.text().size()) take(scan());
  take(Token(Token::EOF, static_cast<uint32_t>(at_), {}));
  return std::move(tokens_);
}

// Blanks and comments too, as a COMMENT.
Token Lexer::scan() {
  const Matcher::Match match = matcher_.match(file_.text(), at_, mode);
  const size_t begin = at_;
  at_ = match.end, mode = match.mode;
  return {match.type, static_cast<uint32_t>(begin), file_.text().substr(begin, match.end - begin)};
}

void Lexer::take(Token t) {
  if (t.type() == SPACE || t.type() == TOP_SPACE) return;
  if (t.type() == COMMENT) return check_comment(t);
  if (t.type() == ATTRIBUTE) return take_attribute(t);
  if (t.type() == DIRECTIVE && t.text().starts_with("#!") && is_first_in_line(t)) return;  // for the kernel
  if (begins_another_clause(t)) end_item();
  if (t.type() == PROBE && !in_item_) t = type_or_probe(t);
  if (t.type() == SCOPED_NAME && follows_tag()) t = with_template_arguments(t);
  classify(t);
  if (t.type() == MACRO) name_argument(t);
  t.set_index(tokens_.size());
  tokens_.push_back(t);
  check(t);
  follow_typedef(t);
  if (t.type() == DIRECTIVE) follow_pragma(t.text());
  follow_braces(t.type());
  after_type_ = ends_type(t.type());
  previous_ = t.type();
}

// What stands before it and after it are neighbours.
void Lexer::take_attribute(Token t) {
  if (!changes_layout(t.text())) return;
  t.set_index(tokens_.size());
  tokens_.push_back(t);
  follow_braces(t.type());
}

// On the command line clauses need no body, nor a comma between them: "1-3" is the probe 1 and the probes called -3.
bool Lexer::begins_another_clause(const Token& t) const {
  const auto is_probe = [](size_t kind) { return kind == PROBE || kind == INTEGER; };
  return in_item_ && mode == 0 && is_probe(t.type()) && is_probe(previous_) && file_.source().is_description;
}

// A token like a probe description may be the type of a declaration: "uint32_t *p;", "a.out`foo *p;", "int*p;". Its '*' then
// belongs to the declarator. A token with a ':' is always a description.
Token Lexer::type_or_probe(const Token& probe) {
  const std::string_view word = probe.text();
  if (type_names_.prefer_probes || word.find(':') != std::string_view::npos) return probe;
  const bool has_star = word.find('*') != std::string_view::npos;
  if (!has_star && word.find('`') == std::string_view::npos && !type_names_.contains(word) && !declares(probe)) return probe;
  at_ = probe.where().begin, mode = DCODE;
  Token first = scan();
  classify(first);
  if (begins_declaration(first)) return first;
  at_ = probe.where().end, mode = 0;
  return probe;
}

// `ns::Box before <int>::Node: where a tag is expected, the whole names a class of C++.
Token Lexer::with_template_arguments(const Token& name) {
  const std::string_view text = file_.text();
  size_t end = name.where().end;
  while (end < text.size() && text[end] == '<') {
    const size_t behind = end_of_template_arguments(text, end);
    if (behind == std::string_view::npos) break;
    end = behind;
    while (end < text.size() && is_of_name(text[end])) end++;
  }
  at_ = end;
  return {name.type(), name.where().begin, text.substr(name.where().begin, end - name.where().begin)};
}

// "name *other" and "name other": the first name is that of a type.
bool Lexer::declares(const Token& t) const {
  if (!is_word(t.text())) return false;
  std::string_view rest = file_.text().substr(t.where().end);
  const size_t gap = rest.find_first_not_of(" \t\r\n*");
  if (gap == 0 || gap == std::string_view::npos || !is_word(rest.substr(gap, 1))) return false;
  const size_t end = rest.find_first_of(";{/");
  return in_item_ || (end != std::string_view::npos && rest[end] == ';');
}

// A name of no known type where a type must stand: at the beginning of a declaration or of a member. The traced program may have
// it.
bool Lexer::begins_specifiers(const Token& t) const {
  const bool is_of_declaration = !in_item_ || !in_clause_;
  const bool begins = previous_ == SELF || previous_ == THIS || previous_ == STORAGE || previous_ == TYPEDEF ||
                      previous_ == INLINE || previous_ == QUALIFIER || previous_ == LBRACE || previous_ == SEMI || !in_item_;
  return is_of_declaration && begins && t.type() == IDENTIFIER && declares(t);
}

// The token after module`name shows if it is a type: a name or '*'.
bool Lexer::begins_declaration(const Token& t) const {
  const size_t kind = t.type();
  if (kind != SCOPED_NAME)
    return kind == BASIC_TYPE || kind == TYPE_NAME || kind == SCOPED_STRUCT || kind == SCOPED_UNION || kind == SCOPED_ENUM;
  const size_t at = file_.text().find_first_not_of(" \t\r\n\f\v", t.where().end);
  const char next = at == std::string_view::npos ? '\0' : file_.text()[at];
  return next == '*' || next == '_' || std::isalpha(static_cast<unsigned char>(next));
}

// "module`struct" and the like; any other may name a type or a symbol, which the grammar tells by what surrounds it.
size_t Lexer::scoped_type(std::string_view text) {
  const std::string_view name = text.substr(text.rfind('`') + 1);
  return name == "struct" ? SCOPED_STRUCT : name == "union" ? SCOPED_UNION : name == "enum" ? SCOPED_ENUM : SCOPED_NAME;
}

// True after a type: the next word is then the declared name, even if it names a type too.
bool Lexer::ends_type(size_t kind) const {
  if (kind == QUALIFIER) return after_type_;
  if (kind == RBRACE) return in_item_ && !in_clause_;
  return kind == BASIC_TYPE || kind == TYPE_NAME || (follows_tag() && kind != LBRACE);
}

// Turns identifiers that name types into TYPE_NAME and, behind -> and ., keywords into names. A # begins a directive only where
// it begins its line.
void Lexer::classify(Token& t) const {
  const size_t kind = t.type();
  if (previous_ == ARROW || previous_ == DOT) {
    if (is_word(t.text())) t.set_type(IDENTIFIER);
  } else if (is_foreign_name(t)) {
    t.set_type(IDENTIFIER);
  } else if (is_foreign_type(t)) {
    t.set_type(TYPE_NAME);
  } else if (after_type_ && kind == SCOPED_NAME) {
    t.set_type(IDENTIFIER);  // which the checker refuses
  } else if (kind == IDENTIFIER && !after_type_ && !follows_tag() &&
             (type_names_.contains(t.text()) || is_pointed_at(t) || begins_specifiers(t))) {
    t.set_type(TYPE_NAME);
  } else if (kind == MACRO && !after_type_ && !follows_tag() && type_names_.contains(t.text())) {
    t.set_type(TYPE_NAME);
  } else if (kind == SCOPED_NAME) {
    t.set_type(scoped_type(t.text()));
  } else if (kind == DIRECTIVE && !is_first_in_line(t)) {
    t.set_type(INVALID);
  }
}

// A macro whose argument is a name stands for that name: self->$1, $1(5), struct $1.
void Lexer::name_argument(Token& t) const {
  const std::string_view name = type_names_.use_argument_name(t.text());
  if (!name.empty()) t.replace(name.find('`') == std::string_view::npos ? size_t{IDENTIFIER} : scoped_type(name), name);
}

// A word of D that is a name here: of a header, or a tag.
bool Lexer::is_foreign_name(const Token& t) const {
  if (!is_word_of_d(t.text())) return false;
  if (follows_tag()) return true;
  const WordPlace place{t.text(), previous_, file_.text().substr(t.where().end), after_type_, parens_ > 0};
  return is_name_of_c(place) && is_in_header(t);
}

// A word of D that a header has declared as a type.
bool Lexer::is_foreign_type(const Token& t) const {
  return is_word_of_d(t.text()) && !after_type_ && type_names_.contains(t.text()) && is_in_header(t);
}

bool Lexer::is_in_header(const Token& t) const {
  return !(in_item_ && in_clause_) && !file_.place(t.where().begin).included_from.empty();
}

// In "(name *)" the name is that of a type, of the traced program perhaps: no expression ends with '*'.
bool Lexer::is_pointed_at(const Token& t) const {
  if (previous_ != LPAREN) return false;
  const std::string_view rest = file_.text().substr(t.where().end);
  const size_t end = rest.find_first_not_of(" \t*");
  return end != std::string_view::npos && rest[end] == ')' && rest.substr(0, end).find('*') != std::string_view::npos;
}

bool Lexer::is_first_in_line(const Token& t) const {
  const std::string_view line = file_.line_text(file_.line(t.where().begin));
  return line.find_first_not_of(" \t\f\v") == file_.column(t.where().begin) - 1;
}

// After struct and its like a name is a tag, whatever else it may be.
bool Lexer::follows_tag() const {
  return previous_ == STRUCT || previous_ == UNION || previous_ == ENUM || previous_ == SCOPED_STRUCT ||
         previous_ == SCOPED_UNION || previous_ == SCOPED_ENUM;
}

// The checker comes too late for a pragma that says how to read what follows.
void Lexer::follow_pragma(std::string_view text) {
  const std::vector<std::string> words = split_words(text);
  if (words.size() == 4 && words[0] == "#pragma" && words[1] == "D" && words[2] == "option" && words[3] == "pspec")
    type_names_.prefer_probes = true;
}

void Lexer::follow_braces(size_t kind) {
  if (kind == DIRECTIVE) return;
  if (kind == Token::EOF) {
    if (in_item_) item_ends_.push_back(tokens_.size() - 2);
    return;
  }
  if (!in_item_)
    in_item_ = true, in_clause_ = kind == PROBE || kind == INTEGER || kind == LBRACE || kind == SLASH || kind == INVALID;
  if (kind == LPAREN) parens_++;
  if (kind == RPAREN && parens_ > 0) parens_--;
  if (kind == LBRACE) depth_++, parens_ = 0;
  if (kind == RBRACE && depth_ > 0 && --depth_ == 0 && in_clause_) end_item();
  if (kind == SEMI && depth_ == 0) end_item();
  if ((kind == OPEN_STRING || kind == OPEN_CHARACTER) && depth_ == 1 && in_clause_ && swallowed_brace_) {
    depth_ = 0;
    end_item();
  }
}

void Lexer::end_item() {
  item_ends_.push_back(tokens_.size() - 1);
  in_item_ = false;
  parens_ = 0;
  mode = 0;
}

// A name stands before ';', ',', '[' or '(' of a typedef outside braces, or before the ')' of "(*name)".
void Lexer::follow_typedef(const Token& t) {
  const size_t kind = t.type();
  if (kind == TYPEDEF) in_typedef_ = true;
  if (!in_typedef_ || depth_ > 0) return;
  if ((kind == COMMA || kind == SEMI || kind == LBRACKET || kind == LPAREN || kind == RPAREN) && !candidate_.empty())
    type_names_.add(candidate_);
  candidate_ = kind == IDENTIFIER ? t.text() : std::string_view();
  if (kind == SEMI) in_typedef_ = false;
}

// One in the line after another is the end of that.
void Lexer::check_open(const Token& t) {
  const Location at = t.where();
  swallowed_brace_ = t.text().find('}') != std::string::npos;
  const unsigned line = file_.line(at.begin), last = open_line_;
  open_line_ = line;
  if (last + 1 == line && last != 0) return;
  const bool is_string = t.type() == OPEN_STRING;
  const std::string what = is_string ? "string literal" : "character constant";
  if (!file_.text(at).ends_with('\n'))
    return diagnostics_.error(Tag::D_SYNTAX, at, "end-of-file encountered before end of " + what);
  // dtrace has already read the newline and names the line after it.
  diagnostics_.error(is_string ? Tag::D_STR_NL : Tag::D_CHR_NL, {at.end, at.end + 1}, "newline encountered in " + what,
                     {what + " begins in line " + std::to_string(file_.place(at.begin).line)});
}

// One that was never closed usually.
void Lexer::check_comment(const Token& t) {
  const size_t inner = t.text().find("/*", 2);
  if (inner == std::string::npos) return;
  const uint32_t at = t.where().begin + static_cast<uint32_t>(inner);
  diagnostics_.error(Tag::D_SYNTAX, {at, at + 2}, "/* encountered inside a comment",
                     {"the comment begins on line " + std::to_string(file_.place(t.where().begin).line)});
}

void Lexer::check(const Token& t) {
  const Location at = t.where();
  const size_t kind = t.type();
  if (kind == OPEN_STRING || kind == OPEN_CHARACTER) check_open(t);
  if (kind == OPEN_COMMENT)
    diagnostics_.error(Tag::D_SYNTAX, {at.begin, at.begin + 2}, "end-of-file encountered before matching */");
  if (kind == FLOATING) diagnostics_.error(Tag::D_SYNTAX, at, "floating-point constants are not permitted");
}

}  // namespace dvm::compiler
