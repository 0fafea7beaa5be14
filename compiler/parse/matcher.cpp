// States and what they accept. Tests: tests/golden/parse.
#include "compiler/parse/matcher.h"

#include <algorithm>

namespace dvm::compiler {

namespace {

using antlr4::atn::LexerActionType;

// Rules say what they do by commands: -> type(X), mode(M). What is hidden the lexer knows.
void apply(antlr4::atn::LexerAction& action, Matcher::Match& to) {
  if (action.getActionType() == LexerActionType::TYPE)
    to.type = static_cast<size_t>(static_cast<antlr4::atn::LexerTypeAction&>(action).getType());
  if (action.getActionType() == LexerActionType::MODE)
    to.mode = static_cast<size_t>(static_cast<antlr4::atn::LexerModeAction&>(action).getMode());
}

}  // namespace

Matcher::Matcher(grammar::DLexer& lexer)
    : LexerATNSimulator(&lexer, lexer.getATN(), lexer.getInterpreter<LexerATNSimulator>()->_decisionToDFA,
                        lexer.getInterpreter<LexerATNSimulator>()->getSharedContextCache()),
      states_(kDead + 1) {}

Matcher::Match Matcher::match(std::string_view text, size_t at, size_t mode) {
  Match found{at + 1, grammar::DLexer::INVALID, mode};
  Id state = start(mode);
  for (size_t i = at;; i++) {
    const size_t c = i < text.size() ? static_cast<unsigned char>(text[i]) : kEnd;
    state = step(state, c);
    if (state == kDead) return found;
    if (states_[state].dfa->isAcceptState) found = states_[state].match, found.end = std::min(i + 1, text.size());
    if (c == kEnd) return found;
  }
}

Matcher::Id Matcher::start(size_t mode) { return starts_[mode] != kUnknown ? starts_[mode] : starts_[mode] = make_start(mode); }

Matcher::Id Matcher::make_start(size_t mode) {
  antlr4::dfa::DFA& dfa = _decisionToDFA[mode];
  _mode = mode;
  if (!dfa.s0) dfa.s0 = addDFAState(computeStartState(&nothing_, atn.modeToStartState[mode]).release());
  return add(dfa.s0, mode);
}

Matcher::Id Matcher::step(Id from, size_t c) {
  const Id next = states_[from].next[c];
  return next != kUnknown ? next : find(from, c);
}

Matcher::Id Matcher::find(Id from, size_t c) {
  antlr4::dfa::DFAState* dfa = states_[from].dfa;
  const size_t symbol = c == kEnd ? antlr4::Token::EOF : c;
  antlr4::dfa::DFAState* to = getExistingTargetState(dfa, symbol);
  if (!to) to = computeTargetState(&nothing_, dfa, symbol);
  const Id id = to == ERROR.get() ? kDead : add(to, states_[from].mode);
  return states_[from].next[c] = id;
}

Matcher::Id Matcher::add(antlr4::dfa::DFAState* dfa, size_t mode) {
  const auto [it, is_new] = ids_.try_emplace(dfa, static_cast<Id>(states_.size()));
  if (!is_new) return it->second;
  LexerState& state = states_.emplace_back(LexerState{dfa, mode, {0, dfa->prediction, mode}, {}});
  if (dfa->isAcceptState && dfa->lexerActionExecutor)
    for (const auto& action : dfa->lexerActionExecutor->getLexerActions()) apply(*action, state.match);
  return it->second;
}

}  // namespace dvm::compiler
