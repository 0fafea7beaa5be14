#pragma once
// A DIFO that the verifier has accepted, the only type that an engine takes. Also the verifier's errors.

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dvm/dif/difo.h"

namespace dvm::vm {

struct VerifyError {
  unsigned pc = 0;
  std::string message;
};

// A basic block: instructions [begin, end). Blocks are sorted by their first instruction. Execution follows this order.
struct BasicBlock {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Copies share the DIFO, which is immutable.
class VerifiedDifo {
 public:
  const dif::Difo& difo() const { return *difo_; }
  const std::vector<BasicBlock>& blocks() const { return blocks_; }

 private:
  friend std::variant<VerifiedDifo, std::vector<VerifyError>> verify(dif::Difo);
  VerifiedDifo() = default;

  std::shared_ptr<const dif::Difo> difo_;
  std::vector<BasicBlock> blocks_;
};

}  // namespace dvm::vm
