#pragma once
// Option flowindent: which arrow a record has and how deep it stands.

#include <string>

#include "runtime/probe/ecb.h"

namespace dvm::runtime {

class FlowColumn {
 public:
  // The FUNCTION column of a record. next: the ECB of the record behind it, or null. Several clauses on one probe are one entry
  // or return: the first enters, the last returns, the others show as "|".
  std::string column(const Ecb& ecb, const Ecb* next);

 private:
  int indent_ = 0;
  const Ecb* last_ = nullptr;
};

}  // namespace dvm::runtime
