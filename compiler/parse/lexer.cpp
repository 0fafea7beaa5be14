// Ends of items, names of types, bad tokens. Tests: tests/golden/parse.
#include "compiler/parse/lexer.h"

#include "compiler/types/type_table.h"

namespace dvm::compiler {

TypeNames standard_type_names() {
  const auto names = TypeTable::standard_names();
  return {names.begin(), names.end()};
}

Lexer::Lexer(antlr4::CharStream* input, const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics)
    : DLexer(input), file_(file), diagnostics_(diagnostics), type_names_(type_names) {
  removeErrorListeners();
}

std::unique_ptr<antlr4::Token> Lexer::nextToken() {
  std::unique_ptr<antlr4::Token> next = DLexer::nextToken();
  if (next->getType() == PROBE && !in_item_) next = type_or_probe(std::move(next));
  if (next->getChannel() == antlr4::Token::DEFAULT_CHANNEL) {
    classify(static_cast<antlr4::WritableToken&>(*next));
    check(*next);
    follow_typedef(*next);
    follow_braces(next->getType());
    after_type_ = ends_type(next->getType());
    previous_ = next->getType();
  } else if (next->getType() == COMMENT) {
    check_comment(*next);
  }
  index_++;
  return next;
}

std::string Lexer::text(const antlr4::Token& t) const { return std::string(file_.text(where(t))); }

Location Lexer::where(const antlr4::Token& t) const {
  return {static_cast<uint32_t>(t.getStartIndex()), static_cast<uint32_t>(t.getStopIndex() + 1)};
}

// What looks like a probe description may be the type of a declaration: "uint32_t *p;", "a.out`foo *p;", "int*p;". Its '*' then
// belongs to what follows. With a ':' it is a description for sure.
std::unique_ptr<antlr4::Token> Lexer::type_or_probe(std::unique_ptr<antlr4::Token> probe) {
  const std::string word = text(*probe);
  if (word.find(':') != std::string::npos) return probe;
  const bool has_star = word.find('*') != std::string::npos;
  if (!has_star && word.find('`') == std::string::npos && !type_names_.contains(word)) return probe;
  getInputStream()->seek(probe->getStartIndex());
  mode = DCODE;
  std::unique_ptr<antlr4::Token> first = DLexer::nextToken();
  classify(static_cast<antlr4::WritableToken&>(*first));
  if (begins_declaration(*first)) return first;
  mode = 0;
  getInputStream()->seek(probe->getStopIndex() + 1);
  return probe;
}

// Whether module`name is a type tells what follows it: a name or '*'.
bool Lexer::begins_declaration(const antlr4::Token& t) const {
  const size_t kind = t.getType();
  if (kind != SCOPED_NAME)
    return kind == BASIC_TYPE || kind == TYPE_NAME || kind == SCOPED_STRUCT || kind == SCOPED_UNION || kind == SCOPED_ENUM;
  const size_t at = file_.text().find_first_not_of(" \t\r\n\f\v", t.getStopIndex() + 1);
  const char next = at == std::string_view::npos ? '\0' : file_.text()[at];
  return next == '*' || next == '_' || std::isalpha(static_cast<unsigned char>(next));
}

// "module`struct" and kin; any other may name a type or a symbol, which the grammar tells by what surrounds it.
size_t Lexer::scoped_type(std::string_view text) {
  const std::string_view name = text.substr(text.rfind('`') + 1);
  return name == "struct" ? SCOPED_STRUCT : name == "union" ? SCOPED_UNION : name == "enum" ? SCOPED_ENUM : SCOPED_NAME;
}

// Whether a type stands before what follows, which then is the declared name even if it names a type too.
bool Lexer::ends_type(size_t kind) const {
  if (kind == QUALIFIER) return after_type_;
  if (kind == RBRACE) return in_item_ && !in_clause_;
  return kind == BASIC_TYPE || kind == TYPE_NAME || (follows_tag() && kind != LBRACE);
}

// Turns identifiers that name types into TYPE_NAME and, behind -> and ., keywords into names. A # begins a directive only where
// it begins its line.
void Lexer::classify(antlr4::WritableToken& t) {
  const size_t kind = t.getType();
  if (previous_ == ARROW || previous_ == DOT) {
    if (is_word(t)) t.setType(IDENTIFIER);
  } else if (after_type_ && kind == SCOPED_NAME) {
    t.setType(IDENTIFIER);  // which the checker refuses
  } else if (kind == IDENTIFIER && !after_type_ && !follows_tag() && (type_names_.contains(text(t)) || is_pointed_at(t))) {
    t.setType(TYPE_NAME);
  } else if (kind == MACRO && !after_type_ && !follows_tag() && type_names_.contains(text(t))) {
    t.setType(TYPE_NAME);
  } else if (kind == SCOPED_NAME) {
    t.setType(scoped_type(text(t)));
  } else if (kind == DIRECTIVE && is_first_in_line(t)) {
    t.setChannel(antlr4::Token::HIDDEN_CHANNEL);
  } else if (kind == DIRECTIVE) {
    t.setType(INVALID);
  }
}

// In "(name *)" the name is that of a type, of the traced program perhaps: no expression ends with '*'.
bool Lexer::is_pointed_at(const antlr4::Token& t) const {
  if (previous_ != LPAREN) return false;
  const std::string_view rest = file_.text().substr(t.getStopIndex() + 1);
  const size_t end = rest.find_first_not_of(" \t*");
  return end != std::string_view::npos && rest[end] == ')' && rest.substr(0, end).find('*') != std::string_view::npos;
}

bool Lexer::is_word(const antlr4::Token& t) const {
  const std::string word = text(t);
  return (std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_') && word.find('`') == std::string::npos;
}

bool Lexer::is_first_in_line(const antlr4::Token& t) const {
  const std::string_view line = file_.line_text(file_.line(where(t).begin));
  return line.find_first_not_of(" \t\f\v") == file_.column(where(t).begin) - 1;
}

// After struct and its like a name is a tag, whatever else it may be.
bool Lexer::follows_tag() const {
  return previous_ == STRUCT || previous_ == UNION || previous_ == ENUM || previous_ == SCOPED_STRUCT ||
         previous_ == SCOPED_UNION || previous_ == SCOPED_ENUM;
}

void Lexer::follow_braces(size_t kind) {
  if (kind == DIRECTIVE) return;
  if (kind == antlr4::Token::EOF) {
    if (in_item_) item_ends_.push_back(index_ - 1);
    return;
  }
  if (!in_item_)
    in_item_ = true, in_clause_ = kind == PROBE || kind == INTEGER || kind == LBRACE || kind == SLASH || kind == INVALID;
  if (kind == LBRACE) depth_++;
  if (kind == RBRACE && depth_ > 0 && --depth_ == 0 && in_clause_) end_item();
  if (kind == SEMI && depth_ == 0) end_item();
  if ((kind == OPEN_STRING || kind == OPEN_CHARACTER) && depth_ == 1 && in_clause_ && swallowed_brace_) {
    depth_ = 0;
    end_item();
  }
}

void Lexer::end_item() {
  item_ends_.push_back(index_);
  in_item_ = false;
  mode = 0;
}

// A name stands before ';', ',' or '[' of a typedef outside braces, or before the ')' of "(*name)".
void Lexer::follow_typedef(const antlr4::Token& t) {
  const size_t kind = t.getType();
  if (kind == TYPEDEF) in_typedef_ = true;
  if (!in_typedef_ || depth_ > 0) return;
  if ((kind == COMMA || kind == SEMI || kind == LBRACKET || kind == RPAREN) && !candidate_.empty())
    type_names_.insert(candidate_);
  candidate_ = kind == IDENTIFIER ? text(t) : "";
  if (kind == SEMI) in_typedef_ = false;
}

// One in the line after another is the end of that.
void Lexer::check_open(const antlr4::Token& t) {
  const Location at = where(t);
  swallowed_brace_ = text(t).find('}') != std::string::npos;
  const unsigned line = file_.line(at.begin), last = open_line_;
  open_line_ = line;
  if (last + 1 == line && last != 0) return;
  const bool is_string = t.getType() == OPEN_STRING;
  const std::string what = is_string ? "string literal" : "character constant";
  if (!file_.text(at).ends_with('\n'))
    return diagnostics_.error(Tag::D_SYNTAX, at, "end-of-file encountered before end of " + what);
  // dtrace has already read the newline and names the line after it.
  diagnostics_.error(is_string ? Tag::D_STR_NL : Tag::D_CHR_NL, {at.end, at.end + 1}, "newline encountered in " + what,
                     {what + " begins in line " + std::to_string(file_.place(at.begin).line)});
}

// One that was never closed usually.
void Lexer::check_comment(const antlr4::Token& t) {
  const size_t inner = text(t).find("/*", 2);
  if (inner == std::string::npos) return;
  const uint32_t at = where(t).begin + static_cast<uint32_t>(inner);
  diagnostics_.error(Tag::D_SYNTAX, {at, at + 2}, "/* encountered inside a comment",
                     {"comment begins in line " + std::to_string(file_.place(where(t).begin).line)});
}

void Lexer::check(const antlr4::Token& t) {
  const Location at = where(t);
  const size_t kind = t.getType();
  if (kind == OPEN_STRING || kind == OPEN_CHARACTER) check_open(t);
  if (kind == OPEN_COMMENT)
    diagnostics_.error(Tag::D_SYNTAX, {at.begin, at.begin + 2}, "end-of-file encountered before matching */");
  if (kind == FLOATING) diagnostics_.error(Tag::D_SYNTAX, at, "floating-point constants are not permitted");
}

}  // namespace dvm::compiler
