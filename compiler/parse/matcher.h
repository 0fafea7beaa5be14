#pragma once
// Runs ANTLR's lexer automata by tables. ANTLR still makes each state when it is first reached. Its own loop takes a lock,
// searches a map and may call a std::function for each character.

#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "DLexer.h"

namespace dvm::compiler {

class Matcher : public antlr4::atn::LexerATNSimulator {
 public:
  struct Match {
    size_t end = 0;
    size_t type = 0;
    size_t mode = 0;  // lexer mode after the token
  };

  explicit Matcher(grammar::DLexer& lexer);
  // The longest token that begins at offset `at`.
  Match match(std::string_view text, size_t at, size_t mode);

 private:
  using LexerATNSimulator::match;
  using Id = uint16_t;
  static constexpr Id kUnknown = 0, kDead = 1;
  static constexpr size_t kEnd = 256;  // of the text, as a character

  struct LexerState {
    antlr4::dfa::DFAState* dfa = nullptr;
    size_t mode = 0;
    Match match;  // if it accepts
    std::array<Id, kEnd + 1> next{};
  };

  Id start(size_t mode);
  Id make_start(size_t mode);
  Id step(Id from, size_t c);
  Id find(Id from, size_t c);
  Id add(antlr4::dfa::DFAState* dfa, size_t mode);

  antlr4::ANTLRInputStream nothing_;  // no rule of ours looks at the text but by its characters
  std::vector<LexerState> states_;
  std::array<Id, 2> starts_{};  // of each mode
  std::unordered_map<antlr4::dfa::DFAState*, Id> ids_;
};

}  // namespace dvm::compiler
