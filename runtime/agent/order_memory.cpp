#include "runtime/agent/order_memory.h"

#include <unistd.h>

namespace dvm::runtime {

bool order_memory_of_threads() {
  constexpr long kAllExpedited = 1 << 1;
  return syscall(static_cast<long>(kMembarrier), kAllExpedited, 0, 0) == 0;
}

}  // namespace dvm::runtime
