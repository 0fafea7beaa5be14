#pragma once
// A wait of unknown length: after two seconds a line on standard error says what dvm does and for how long, if that is a
// terminal. The line is gone at the end. Nothing else may be printed meanwhile.

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
