#pragma once
// Shows a wait of unknown length, if standard error is a terminal. After two seconds, a line says what dvm does and for how long.
// The line is removed at the end. Nothing else may be printed during the wait.

#include <string>
#include <thread>

namespace dvm::cmd {

class WaitMessage {
 public:
  explicit WaitMessage(std::string what);
  ~WaitMessage();
  WaitMessage(const WaitMessage&) = delete;
  WaitMessage& operator=(const WaitMessage&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace dvm::cmd
