#pragma once
// Chooses between the alternatives of a rule by the states that ANTLR has already made, without its lock, exception guard and
// allocation. If these do not decide, ANTLR does, and makes the states for the next time.

#include "DParser.h"

namespace dvm::compiler {

class Predictor : public antlr4::atn::ParserATNSimulator {
 public:
  explicit Predictor(antlr4::Parser& owner);
  size_t adaptivePredict(antlr4::TokenStream* input, size_t decision, antlr4::ParserRuleContext* context) override;

 private:
  // The state that decides. Null: ANTLR has not made it yet.
  const antlr4::dfa::DFAState* known(antlr4::TokenStream& input, const antlr4::dfa::DFA& dfa);
  size_t choose(const antlr4::dfa::DFAState& state, antlr4::ParserRuleContext* context);
};

}  // namespace dvm::compiler
