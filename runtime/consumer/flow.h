#pragma once
// Option flowindent: the arrow and the indentation of a record.

#include <string>

#include "runtime/probe/ecb.h"

namespace dvm::runtime {

class FlowColumn {
 public:
  // The FUNCTION column of a record. next: the ECB of the next record, or null. Several clauses on one probe are one entry or
  // return: the first one enters or the last one returns, and the others show as "|".
  std::string column(const Ecb& ecb, const Ecb* next);

 private:
  int indent_ = 0;
  const Ecb* last_ = nullptr;
};

}  // namespace dvm::runtime
