#pragma once
// A wait of unknown length: after two seconds a line on standard error says what dvm does and for how long, if that is a
// terminal. The line is gone at the end. Nothing else may be printed meanwhile.

#include <string>
#include <thread>

namespace dvm::cmd {

class Waiting {
 public:
  explicit Waiting(std::string what);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace dvm::cmd
