// Covered by tests/runtime/scenarios/test_live.py.

#include "export/live_screen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "export/live_view.h"
#include "export/program_terminal.h"

namespace dvm::exporting {
namespace {

constexpr std::chrono::milliseconds kLook{100};  // at the size of the terminal, and for what programs write

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the terminal has gone
    text.remove_prefix(static_cast<size_t>(written));
  }
}

ScreenSize size_of(int terminal) {
  winsize size{};
  if (ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

// A standard stream whose descriptor is a file without a name for a time.
class HeldStream {
 public:
  explicit HeldStream(std::FILE* stream) : stream_(stream), descriptor_(fileno(stream)) {
    std::fflush(stream_);
    file_ = std::tmpfile();
    if (file_ == nullptr) return;
    fcntl(fileno(file_), F_SETFL, O_RDWR | O_APPEND);  // ftruncate() leaves no hole
    fcntl(fileno(file_), F_SETFD, FD_CLOEXEC);
    terminal_ = fcntl(descriptor_, F_DUPFD_CLOEXEC, 3);
    if (terminal_ >= 0) is_held_ = dup2(fileno(file_), descriptor_) >= 0;
  }
  ~HeldStream() {
    release();
    if (terminal_ >= 0) close(terminal_);
    if (file_ != nullptr) std::fclose(file_);
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;

  int terminal() const { return terminal_ >= 0 ? terminal_ : descriptor_; }

  // A file that freopen() has put in its place stays.
  void release() {
    if (!is_held_) return;
    std::fflush(stream_);
    if (is_own()) dup2(terminal_, descriptor_);
    is_held_ = false;
    print();
  }
  void print() {
    if (file_ == nullptr || terminal_ < 0) return;
    char bytes[65536];
    for (ssize_t size; (size = pread(fileno(file_), bytes, sizeof(bytes), printed_)) > 0; printed_ += size)
      write_all(terminal_, {bytes, static_cast<size_t>(size)});
  }

 private:
  bool is_own() const {
    struct stat its {
    }, own{};
    return fstat(descriptor_, &its) == 0 && fstat(fileno(file_), &own) == 0 && its.st_dev == own.st_dev &&
           its.st_ino == own.st_ino;
  }

  std::FILE* stream_;
  int descriptor_;
  int terminal_ = -1;
  std::FILE* file_ = nullptr;
  bool is_held_ = false;
  off_t printed_ = 0;
};

// Lines in place of those before, which end where the cursor is.
class ScreenDrawing {
 public:
  explicit ScreenDrawing(int terminal) : terminal_(terminal) {}

  bool is_of(ScreenSize size) const { return size.columns == size_.columns && size.rows == size_.rows; }

  void show(const std::vector<std::string>& lines, ScreenSize size) {
    std::string text = erased(size);
    text += "\033[?7l";  // a line is cut, not wrapped
    for (const std::string& line : lines) text += line + "\033[K\r\n";
    text += "\033[?7h";
    lines_ = lines.size(), size_ = size;
    write_all(terminal_, text);
  }
  // Above the lines.
  void print(const std::string& text) {
    erase();
    write_all(terminal_, text);
  }
  void erase() {
    write_all(terminal_, erased(size_));
    lines_ = 0;
  }

 private:
  // A terminal of another size has moved lines about.
  std::string erased(ScreenSize size) const {
    if (lines_ == 0) return "";
    return is_of(size) ? fmt::format("\033[{}A\r\033[J", lines_) : "\033[H\033[2J";
  }

  int terminal_;
  size_t lines_ = 0;
  ScreenSize size_;
};

}  // namespace

struct LiveScreen::Impl {
  std::unique_ptr<HeldStream> output, errors;
  std::unique_ptr<ProgramTerminal> programs;
  std::thread thread;
  std::mutex mutex;  // guards the rest
  std::condition_variable changed;
  std::shared_ptr<const runtime::Snapshot> snapshot;  // not drawn yet
  bool is_ending = false;

  void begin() {
    if (isatty(STDERR_FILENO) != 0) errors = std::make_unique<HeldStream>(stderr);
    output = std::make_unique<HeldStream>(stdout);
    thread = std::thread([this] { run(); });
  }

  void end() {
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      is_ending = true;
    }
    changed.notify_one();
    thread.join();
    output->release();
    if (errors) errors->release();
  }

  // Signals are the business of the thread that traces.
  void run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    LiveView view;
    ScreenDrawing drawing(output->terminal());
    for (std::unique_lock lock(mutex); !is_ending;) {
      changed.wait_for(lock, kLook, [this] { return is_ending || snapshot; });
      const std::shared_ptr<const runtime::Snapshot> next = std::exchange(snapshot, nullptr);
      lock.unlock();
      if (next) view.take(*next);
      const std::string printed = programs->take_lines();
      if (!printed.empty()) drawing.print(printed);
      // The last line stays free for the cursor.
      if (const ScreenSize size = size_of(output->terminal()); next || !printed.empty() || !drawing.is_of(size))
        drawing.show(view.draw({size.columns, size.rows - 1}), size);
      lock.lock();
    }
    drawing.erase();
  }
};

LiveScreen::LiveScreen() : impl_(std::make_unique<Impl>()) {}
LiveScreen::~LiveScreen() { end(); }

Status LiveScreen::open() {
  if (isatty(STDOUT_FILENO) == 0) return Error{"--live draws on a terminal, and standard output is not a terminal"};
  const char* const kind = std::getenv("TERM");
  if (kind != nullptr && std::string_view(kind) == "dumb")
    return Error{"--live moves the cursor, which this terminal cannot do (TERM=dumb)"};
  Result<std::unique_ptr<ProgramTerminal>> opened = ProgramTerminal::open(STDOUT_FILENO);
  if (!opened) return opened.error();
  impl_->programs = *std::move(opened);
  return {};
}

int LiveScreen::program_terminal() const { return impl_->programs->output(); }

void LiveScreen::publish(std::shared_ptr<const runtime::Snapshot> snapshot) {
  if (!impl_->output) impl_->begin();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->snapshot = std::move(snapshot);
  }
  impl_->changed.notify_one();
}

void LiveScreen::end() {
  impl_->end();
  if (impl_->programs) write_all(STDOUT_FILENO, std::exchange(impl_->programs, nullptr)->let_go());
}

void LiveScreen::print_rest() {
  if (impl_->output) impl_->output->print();
  if (impl_->errors) impl_->errors->print();
}

}  // namespace dvm::exporting
