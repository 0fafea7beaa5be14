// The driver of ANTLR: tokens to items, items to trees, errors to D_SYNTAX. Tests: tests/golden/parse,
// tests/fuzz/compiler_fuzz_test.cpp.
#include "compiler/parse/parse.h"

#include <antlr4-runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "DParser.h"
#include "compiler/parse/builder.h"
#include "compiler/parse/lexer.h"
#include "compiler/parse/predictor.h"
#include "compiler/parse/recover.h"

namespace dvm::compiler {

namespace {

// Rules within rules: 3000 nested parentheses. A level takes some 10 KB of stack in a sanitized build; compile() has plenty.
constexpr unsigned kMaxDepth = 6000;

// Mistakes of one item that are told. Each costs another reading of the item.
constexpr unsigned kMaxErrors = 25;

struct TooDeep : antlr4::ParseCancellationException {
  size_t token = 0;
};

// Limits how deep rules nest. A chain like 1 + 1 + ... does not nest rules, only nodes: the builder limits these.
class DepthLimit : public antlr4::tree::ParseTreeListener {
 public:
  void reset() { depth_ = 0; }
  void enterEveryRule(antlr4::ParserRuleContext* context) override {
    if (++depth_ <= kMaxDepth) return;
    TooDeep error;
    error.token = context->start ? context->start->getTokenIndex() : 0;
    throw error;
  }
  void exitEveryRule(antlr4::ParserRuleContext*) override { depth_--; }
  void visitTerminal(antlr4::tree::TerminalNode*) override {}
  void visitErrorNode(antlr4::tree::ErrorNode*) override {}

 private:
  unsigned depth_ = 0;
};

// Gives up at the first error and keeps the token at which it was found.
class FirstError : public antlr4::DefaultErrorStrategy {
 public:
  void recover(antlr4::Parser* parser, std::exception_ptr error) override {
    try {
      std::rethrow_exception(error);
    } catch (const antlr4::RecognitionException& e) {
      fail(parser, e.getOffendingToken());
    }
  }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { fail(parser, parser->getCurrentToken()); }
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {}
  void sync(antlr4::Parser*) override {}

  antlr4::Token* token = nullptr;
  antlr4::misc::IntervalSet kinds;  // that were expected, if the parser stood at the token

 private:
  [[noreturn]] void fail(antlr4::Parser* parser, antlr4::Token* at) {
    token = at;
    kinds.clear();
    if (parser->getCurrentToken() == at) kinds = parser->getExpectedTokens();
    throw antlr4::ParseCancellationException();
  }
};

// ANTLR's own makes a node of each token for the listener.
class NodelessParser : public grammar::DParser {
 public:
  using DParser::DParser;
  antlr4::Token* consume() override {
    antlr4::Token* taken = _input->LT(1);
    _input->consume();
    return taken;
  }
};

class ItemParser {
 public:
  ItemParser(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics)
      : file_(file),
        diagnostics_(diagnostics),
        lexer_(file, type_names, diagnostics),
        tokens_(lexer_.run()),
        parser_(nullptr),
        errors_(std::make_shared<FirstError>()) {
    parser_.setInterpreter(new Predictor(parser_));  // instead of its own, and owned like that
    parser_.removeErrorListeners();
    parser_.setErrorHandler(errors_);
    parser_.addParseListener(&depth_);
    parser_.setBuildParseTree(false);
  }

  TranslationUnit run() {
    TranslationUnit unit;
    size_t begin = 0;
    for (const size_t end : lexer_.item_ends()) {
      directives(begin, end, unit);
      item(begin, end, unit);
      begin = end + 1;
    }
    directives(begin, tokens_.size(), unit);
    return unit;
  }

 private:
  using Mode = antlr4::atn::PredictionMode;

  void directives(size_t begin, size_t end, TranslationUnit& unit) {
    for (size_t i = begin; i < end; i++)
      if (tokens_[i].type() == Lexer::DIRECTIVE) unit.items.emplace_back(build_directive(tokens_[i]));
  }

  // Parses until what remains of the item is D.
  void item(size_t begin, size_t end, TranslationUnit& unit) {
    ItemTokens tokens(tokens_, begin, end);
    size_t broken = leave_out_open(tokens, begin, end);
    for (unsigned n = 0; n < kMaxErrors; n++) {
      const std::optional<size_t> error = try_item(tokens, broken, unit);
      if (!error) break;
      const size_t last = tokens_.size() - 1;  // nothing that could be left out closes a brace that is missed there
      if (*error == last || !tokens.leave_out(*error)) {
        tokens.note_names();
        break;
      }
      broken = std::min(broken, last);  // what was left out may have held that brace
    }
    unit.doubtful.insert(unit.doubtful.end(), tokens.names.begin(), tokens.names.end());
  }

  // What a literal that is not closed has swallowed makes no sense. The token from which on no error is worth telling.
  size_t leave_out_open(ItemTokens& tokens, size_t begin, size_t end) {
    for (size_t i = begin; i <= end && i < tokens_.size(); i++) {
      const size_t kind = tokens_[i].type();
      if (kind != Lexer::OPEN_STRING && kind != Lexer::OPEN_CHARACTER && kind != Lexer::OPEN_COMMENT) continue;
      tokens.leave_out(i);
      return i;
    }
    return tokens_.size() + 1;
  }

  // The token at which the item fails to be one.
  std::optional<size_t> try_item(ItemTokens& tokens, size_t broken, TranslationUnit& unit) {
    grammar::DParser::ItemContext* tree = nullptr;
    try {
      tree = parse(tokens, Mode::SLL);
      if (!tree || tokens.index() < tokens.size()) tree = parse(tokens, Mode::LL);
    } catch (const TooDeep& deep) {
      const uint32_t at = tokens_[deep.token].where().begin;
      diagnostics_.error(Tag::D_NESTING, {at, at + 1}, "expression or declaration is nested too deeply");
      return {};  // to read such an item again takes long
    }
    if (tree && tokens.index() >= tokens.size()) {
      AstBuilder(file_, diagnostics_).item(*tree, unit);
      return {};
    }
    if (tree) errors_->kinds.clear();
    const antlr4::Token* found = tree ? tokens.LT(1) : errors_->token;
    const Token& token = found ? ours(*found) : tokens_.back();
    if (token.index() < broken) syntax_error(token, tokens);
    return token.index();
  }

  grammar::DParser::ItemContext* parse(ItemTokens& tokens, Mode mode) {
    depth_.reset();
    tokens.seek(0);
    parser_.setTokenStream(&tokens);
    parser_.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode);
    try {
      return parser_.item();
    } catch (const TooDeep&) {
      throw;
    } catch (const antlr4::ParseCancellationException&) {
      return nullptr;
    }
  }

  void syntax_error(const Token& token, const ItemTokens& tokens) {
    if (token.type() == Token::EOF) return end_of_input(token, tokens);
    std::string near(cited(token));
    if (near.size() > 80) near = near.substr(0, 80) + "...";
    diagnostics_.error(Tag::D_SYNTAX, token.where(), fmt::format("syntax error near \"{}\"", printable(near)),
                       hints(token, tokens));
  }

  // The token. dtrace looks ahead to tell if a new name is one of a type, and then cites all of the line.
  std::string_view cited(const Token& token) const {
    const size_t kind = token.type();
    const std::string_view text = token.text();
    const auto is_known = [&](const Token& t) { return t.index() < token.index() && t.text() == text; };
    const bool is_new =
        (kind == Lexer::IDENTIFIER || kind == Lexer::TYPE_NAME) && std::none_of(tokens_.begin(), tokens_.end(), is_known);
    const Location where = token.where();
    return is_new ? file_.line_text(file_.line(where.begin)).substr(file_.column(where.begin) - 1)
                  : text.substr(0, text.find('\n'));
  }

  void end_of_input(const Token& token, const ItemTokens& tokens) {
    uint32_t at = static_cast<uint32_t>(file_.text().size());
    while (at > 0 && std::isspace(static_cast<unsigned char>(file_.text()[at - 1]))) at--;
    diagnostics_.error(Tag::D_SYNTAX, {at == 0 ? 0 : at - 1, at}, "syntax error near end of input", hints(token, tokens));
  }

  static std::string printable(std::string_view text) {
    std::string safe;
    for (const char c : text)
      safe += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f
                  ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c))
                  : std::string(1, c);
    return safe;
  }

  std::vector<std::string> hints(const Token& token, const ItemTokens& tokens) {
    std::vector<std::string> list = guesses(token, tokens);
    const std::string wanted = list.empty() ? expected(errors_->kinds) : "";
    if (!wanted.empty()) list.push_back(fmt::format("{}, found {}", wanted, printable(quoted(token))));
    return list;
  }

  static std::string quoted(const Token& token) {
    if (token.type() == Token::EOF) return "the end";
    const std::string_view text = token.text();
    return text.size() > 40 ? fmt::format("'{}...'", text.substr(0, 37)) : fmt::format("'{}'", text);
  }

  static std::string reserved(std::string_view word) {
    const bool is_loop = word == "for" || word == "while" || word == "do";
    return fmt::format("D {}reserves the word '{}'", is_loop ? "has no loops, and " : "", word);
  }

  // Hints: likely causes of the error.
  std::vector<std::string> guesses(const Token& token, const ItemTokens& tokens) {
    if (token.type() == Token::EOF) return {};
    if (token.type() == Lexer::RESERVED) return {reserved(token.text())};
    if (token.type() == Lexer::LBRACE && !errors_->kinds.contains(size_t{Lexer::RPAREN})) return {"is a '}' missing before it?"};
    if (file_.text().substr(token.where().begin).starts_with("//")) return {"D has no // comments: write /* */"};
    if (follows_path(token))
      return {"a module is the last part of a path: bpftrace's uprobe:/bin/bash:readline is pid$target:bash:readline:entry in D"};
    const Token* before = tokens.before(token);
    return before ? guesses(*before, token) : std::vector<std::string>();
  }

  // True if a probe description goes on with a path until the token: "uprobe:/bin/bash:readline". A predicate may begin as well,
  // but what follows it has a blank, a bracket or an operator.
  bool follows_path(const Token& token) const {
    for (size_t i = token.index(); i-- > 0 && tokens_[i].type() != Lexer::RBRACE && tokens_[i].type() != Lexer::SEMI;) {
      const Location where = tokens_[i].where();
      if (tokens_[i].type() != Lexer::PROBE || token.where().begin < where.end) continue;
      const std::string_view path = file_.text().substr(where.end, token.where().begin - where.end);
      if (file_.text()[where.end - 1] == ':' && path.starts_with('/') && std::all_of(path.begin(), path.end(), is_of_path))
        return true;
    }
    return false;
  }

  static bool is_of_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:+-").find(c) != std::string_view::npos;
  }

  static std::vector<std::string> class_hint(std::string_view scope) {
    return {fmt::format("a class of the traced program is written struct `{}::NAME", scope)};
  }

  // An operand that begins a line after a complete one usually lacks a ';' before it.
  std::vector<std::string> guesses(const Token& before, const Token& token) {
    if (before.type() == Lexer::STRING && token.type() == Lexer::STRING)
      return {"D does not join adjacent strings: strjoin() does"};
    if (before.type() == Lexer::IDENTIFIER && file_.text().substr(token.where().begin).starts_with("::"))
      return class_hint(before.text());
    if (before.type() == Lexer::PROBE && token.text().starts_with('*') && before.text().find("::") != std::string_view::npos)
      return class_hint(before.text().substr(0, before.text().find("::")));
    const bool new_line = file_.line(before.where().begin) < file_.line(token.where().begin);
    const size_t type = before.type();
    const bool complete = type == Lexer::IDENTIFIER || type == Lexer::INTEGER || type == Lexer::STRING || type == Lexer::RPAREN ||
                          type == Lexer::RBRACKET || type == Lexer::MACRO || type == Lexer::INCREMENT || type == Lexer::DECREMENT;
    if (!new_line || !complete) return {};
    return {"is a ';' missing before it?"};
  }

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  Lexer lexer_;
  std::vector<Token> tokens_;
  NodelessParser parser_;
  DepthLimit depth_;
  std::shared_ptr<FirstError> errors_;
};

}  // namespace

TranslationUnit parse(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics) {
  static std::mutex antlr;  // its automata are those of the process, and Predictor reads them without its locks
  const std::scoped_lock lock(antlr);
  try {
    return ItemParser(file, type_names, diagnostics).run();
  } catch (const std::bad_alloc&) {
    diagnostics.error(Tag::D_UNKNOWN, {}, "there is not enough memory to parse it");
    return {};
  } catch (const std::exception& e) {
    diagnostics.error(Tag::D_UNKNOWN, {}, fmt::format("the parser failed: {}", e.what()));
    return {};
  }
}

}  // namespace dvm::compiler
