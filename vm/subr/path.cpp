// Paths as text: nothing is looked up in a file system. Covered by tests/conformance/subr.

#include "vm/subr/subr.h"

namespace dvm::vm {

namespace {

constexpr size_t kNone = std::string_view::npos;

std::string_view without_trailing_slashes(std::string_view path) {
  const size_t last = path.find_last_not_of('/');
  return last == kNone ? path.substr(0, path.empty() ? 0 : 1) : path.substr(0, last + 1);
}

std::string_view directory_of(std::string_view path) {
  path = without_trailing_slashes(path);
  const size_t slash = path.rfind('/');
  if (slash == kNone) return ".";
  return slash == 0 ? path.substr(0, 1) : without_trailing_slashes(path.substr(0, slash));
}

// Writes a path component by component; "." is left out and ".." takes the last one back.
class CleanPath {
 public:
  CleanPath(char* to, bool absolute) : to_(to), absolute_(absolute) {
    if (absolute_) to_[size_++] = '/';
    root_ = size_;
  }

  void add(std::string_view component) {
    if (component.empty() || component == ".") return;
    if (component == ".." && take_back()) return;
    if (size_ > root_) to_[size_++] = '/';
    size_ += component.copy(to_ + size_, component.size());
  }
  // What came to nothing is the directory itself.
  void finish() {
    if (size_ == 0) to_[size_++] = '.';
    to_[size_] = '\0';
  }

 private:
  // Above the root there is only the root; above the start of a relative path, ".." stays.
  bool take_back() {
    if (size_ == root_) return absolute_;
    const std::string_view written(to_ + root_, size_ - root_);
    const size_t slash = written.rfind('/');
    const size_t last = slash == kNone ? 0 : slash + 1;
    if (written.substr(last) == "..") return false;
    size_ = root_ + (slash == kNone ? 0 : slash);
    return true;
  }

  char* to_;
  bool absolute_;
  size_t size_ = 0;
  size_t root_ = 0;
};

}  // namespace

uint64_t subr_basename(State& state) noexcept {
  const auto path = string_argument(state, 0);
  if (!path) return 0;
  if (path->empty()) return scratch_string(state, ".");
  const std::string_view whole = without_trailing_slashes(*path);
  if (whole == "/") return scratch_string(state, whole);
  const size_t slash = whole.rfind('/');
  return scratch_string(state, slash == kNone ? whole : whole.substr(slash + 1));
}

uint64_t subr_dirname(State& state) noexcept {
  const auto path = string_argument(state, 0);
  return path ? scratch_string(state, directory_of(*path)) : 0;
}

uint64_t subr_cleanpath(State& state) noexcept {
  const auto path = string_argument(state, 0);
  if (!path) return 0;
  if (path->empty()) return scratch_string(state, "");
  std::byte* to = allocate_scratch(state, path->size() + 1);
  if (!to) return 0;
  CleanPath clean(reinterpret_cast<char*>(to), path->starts_with('/'));
  for (size_t at = 0; at < path->size();) {
    const size_t end = std::min(path->find('/', at), path->size());
    clean.add(path->substr(at, end - at));
    at = end + 1;
  }
  clean.finish();
  return address_of(to);
}

}  // namespace dvm::vm
