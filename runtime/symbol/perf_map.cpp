// Reads perf-PID.map. Tested by tests/unit/instrument/user_symbols_test.cpp.

#include "runtime/symbol/perf_map.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostBytes = 64u << 20;
constexpr size_t kMostFunctions = 1 << 20;
constexpr size_t kUsualLine = 64;    // bytes
constexpr uint64_t kIdleTimes = 19;  // as long as reading took it is not read again

bool take_number(std::string_view& line, uint64_t& value) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()) + 1);
  return true;
}

}  // namespace

std::vector<GeneratedFunction> parse_perf_map(std::string_view text) {
  std::vector<GeneratedFunction> all;
  all.reserve(std::min(kMostFunctions, text.size() / kUsualLine));
  while (!text.empty() && all.size() < kMostFunctions) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    GeneratedFunction one;
    if (take_number(line, one.address) && take_number(line, one.size) && !line.empty()) {
      one.name = line;
      all.push_back(one);
    }
  }
  const auto before = [](const GeneratedFunction& a, const GeneratedFunction& b) {
    return a.address != b.address ? a.address < b.address
                                  : a.name.data() > b.name.data();  // the later line comes first, and stays
  };
  const auto same = [](const GeneratedFunction& a, const GeneratedFunction& b) { return a.address == b.address; };
  std::sort(all.begin(), all.end(), before);
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

PerfMap::Owner PerfMap::owner_of(int32_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  Owner owner;
  for (std::string line; std::getline(status, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (name == "Uid:") fields >> owner.user >> owner.user;  // the real one, then the effective one
    if (name == "NSpid:")
      while (fields >> owner.number) {  // the last is the innermost
      }
  }
  return owner;
}

void PerfMap::parse(const RegularFile& file) {
  functions_.clear();
  text_.resize(file.size());
  size_t got = 0;
  for (ssize_t part; got < text_.size(); got += static_cast<size_t>(part))
    if ((part = pread(file.fd(), text_.data() + got, text_.size() - got, static_cast<off_t>(got))) <= 0) break;
  text_.resize(got);
  functions_ = parse_perf_map({text_.data(), text_.size()});
}

bool PerfMap::read_file(const std::string& path, bool is_own) {
  const auto file = RegularFile::open(path, RegularFile::Links::refuse);
  if (!file || (file->status().st_uid != user_ && file->status().st_uid != 0)) return false;
  const int64_t modified = file->status().st_mtim.tv_sec * 1'000'000'000 + file->status().st_mtim.tv_nsec;
  if (!is_own && modified < since_) return false;
  if (file->size() > kMostBytes || (modified == modified_ && file->size() == size_)) return true;
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  modified_ = modified, size_ = file->size();
  parse(*file);
  const uint64_t end = read_clock(CLOCK_MONOTONIC);
  read_again_ = end + kIdleTimes * (end - begin);
  return true;
}

void PerfMap::read(int32_t pid) {
  if (since_ == 0) since_ = static_cast<int64_t>(read_clock(CLOCK_REALTIME));
  if (read_clock(CLOCK_MONOTONIC) < read_again_) return;
  const Owner owner = owner_of(pid);
  if (owner.number != 0) name_ = fmt::format("perf-{}.map", owner.number), user_ = owner.user;
  if (name_.empty()) return;
  if (owner.number == 0 || !read_file(fmt::format("/proc/{}/root/tmp/{}", pid, name_), true)) read_file("/tmp/" + name_, false);
}

const GeneratedFunction* PerfMap::find(uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](uint64_t a, const GeneratedFunction& function) { return a < function.address; });
  if (after == functions_.begin()) return nullptr;
  const GeneratedFunction& function = *std::prev(after);
  return address - function.address < function.size ? &function : nullptr;
}

}  // namespace dvm::runtime
