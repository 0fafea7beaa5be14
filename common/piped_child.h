#pragma once
// Forked children that receive orders through one pipe and answer through another. A child is ended when its object is destroyed,
// or when the thread that made it ends.

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "dvm/common/result.h"

namespace dvm {

class PipedChild {
 public:
  // Runs in the child. It reads orders and writes answers, or executes another program, which does not inherit these two files.
  // When it returns, the child ends.
  using Serve = std::function<void(int orders, int answers)>;

  // end_signal: the signal that ends the child.
  static Result<std::unique_ptr<PipedChild>> start(const Serve& serve, int end_signal = SIGKILL);
  ~PipedChild();  // ends the child and waits for it
  PipedChild(const PipedChild&) = delete;
  PipedChild& operator=(const PipedChild&) = delete;

  pid_t pid() const { return pid_; }
  Status tell(const void* order, size_t size);
  // Waits until there is an answer or the child has ended. False: neither happened within `ms` milliseconds. -1: no limit.
  bool wait(int ms) const;
  // Reads the next bytes of an answer, and waits for the first. Returns their number; 0: the child has ended.
  size_t hear(void* answer, size_t most);

 private:
  explicit PipedChild(int end_signal) : end_signal_(end_signal) {}

  int end_signal_;
  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1;
};

// A child that carries out one Order after another, with an Answer to each.
template <class Order, class Answer>
class AnsweringChild {
  static_assert(std::is_trivially_copyable_v<Order> && std::is_trivially_copyable_v<Answer>);

 public:
  using CarryOut = std::function<Answer(const Order&)>;

  static Result<AnsweringChild> start(const CarryOut& carry_out) {
    auto child = PipedChild::start([&carry_out](int orders, int answers) {
      for (Order order; read(orders, &order, sizeof order) == sizeof order;) {
        const Answer answer = carry_out(order);
        if (write(answers, &answer, sizeof answer) != sizeof answer) break;
      }
    });
    if (!child) return child.error();
    return AnsweringChild(*std::move(child));
  }

  // One that serves otherwise.
  explicit AnsweringChild(std::unique_ptr<PipedChild> child) : child_(std::move(child)) {}

  pid_t pid() const { return child_->pid(); }
  Status tell(const Order& order) { return child_->tell(&order, sizeof order); }
  bool is_done() const { return child_->wait(0); }
  void wait() const { child_->wait(-1); }  // until it is done, or gone
  // Waits for the answer.
  Result<Answer> finish() {
    Answer answer;
    if (child_->hear(&answer, sizeof answer) != sizeof answer) return Error{"a child ended early"};
    return answer;
  }
  Result<Answer> ask(const Order& order) {
    if (Status told = tell(order); !told) return told.error();
    return finish();
  }

 private:
  std::unique_ptr<PipedChild> child_;
};

}  // namespace dvm
