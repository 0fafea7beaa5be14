#pragma once
// The price of translating a clause, in CPU time of the translator thread. The parts of a clause are its body and its DIFOs.

#include "runtime/plan/plan.h"

namespace dvm::runtime {

struct TranslationPrice {
  double load = 30e6;      // ns to load LLVM; an estimate until it is loaded
  double per_part = 15e5;  // ns; an estimate until a clause was translated

  static double parts(size_t difos) { return 1 + static_cast<double>(difos); }
  static double parts(const EcbPlan& plan) { return parts(plan.difos.size()); }
  double of(const EcbPlan& plan) const { return (is_loaded_ ? 0 : load) + per_part * parts(plan); }

  bool is_loaded() const { return is_loaded_; }
  void add_load(double ns) { load = ns, is_loaded_ = true; }
  // Adds the measured price of a clause. All parts are assumed to cost the same.
  void add(double ns, const EcbPlan& plan) {
    spent_ += ns, parts_ += parts(plan);
    per_part = spent_ / parts_;
  }

 private:
  double spent_ = 0, parts_ = 0;
  bool is_loaded_ = false;
};

}  // namespace dvm::runtime
