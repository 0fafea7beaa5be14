// The walk through known states. Tests: tests/golden/parse.
#include "compiler/parse/predictor.h"

namespace dvm::compiler {

Predictor::Predictor(antlr4::Parser& owner)
    : ParserATNSimulator(&owner, owner.getATN(), owner.getInterpreter<ParserATNSimulator>()->decisionToDFA,
                         owner.getInterpreter<ParserATNSimulator>()->getSharedContextCache()) {}

size_t Predictor::adaptivePredict(antlr4::TokenStream* input, size_t decision, antlr4::ParserRuleContext* context) {
  const antlr4::dfa::DFAState* state = known(*input, decisionToDFA[decision]);
  const size_t alternative = state ? choose(*state, context) : 0;
  return alternative != 0 ? alternative : ParserATNSimulator::adaptivePredict(input, decision, context);
}

const antlr4::dfa::DFAState* Predictor::known(antlr4::TokenStream& input, const antlr4::dfa::DFA& dfa) {
  const antlr4::dfa::DFAState* state = dfa.isPrecedenceDfa() ? dfa.getPrecedenceStartState(parser->getPrecedence()) : dfa.s0;
  for (ssize_t i = 1; state; i++) {
    const size_t token = input.LA(i);
    const auto edge = state->edges.find(token);
    if (edge == state->edges.end() || edge->second == ERROR.get()) return nullptr;
    state = edge->second;
    if (state->requiresFullContext && getPredictionMode() != antlr4::atn::PredictionMode::SLL) return nullptr;
    if (state->isAcceptState) return state;
    if (token == antlr4::Token::EOF) return nullptr;
  }
  return nullptr;
}

// An operator may follow where it binds tightly enough: the alternatives have predicates then, the first that holds is taken.
size_t Predictor::choose(const antlr4::dfa::DFAState& state, antlr4::ParserRuleContext* context) {
  if (state.predicates.empty()) return state.prediction;
  for (const auto* p : state.predicates)
    if (p->pred == antlr4::atn::SemanticContext::NONE || p->pred->eval(parser, context)) return static_cast<size_t>(p->alt);
  return 0;
}

}  // namespace dvm::compiler
