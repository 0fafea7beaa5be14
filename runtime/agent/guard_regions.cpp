// Tested by tests/unit/instrument/guard_regions_test.cpp.

#include "runtime/agent/guard_regions.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "common/file_bytes.h"
#include "common/file_descriptor.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kGuardPage = 4096;
constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL
constexpr uint64_t kGuardBit = uint64_t{1} << 58;
constexpr size_t kMostGuards = 4096;  // of all ranges; memory behind these is left out

// <linux/fs.h> since Linux 6.7; PAGE_IS_GUARD since 6.16.
struct ScannedRegion {
  uint64_t begin, end, categories;
};
struct PagemapScan {
  uint64_t size = sizeof(PagemapScan), flags = 0, begin, end, walked = 0, to, most, most_pages = 0;
  uint64_t inverted = 0, all_of, any_of = 0, returned;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, PagemapScan);
constexpr uint64_t kIsGuard = 1 << 8;

// A process's page map, in which guard regions are sought from a page on.
class GuardSearch {
 public:
  GuardSearch(const std::string& path, GuardsShown shown) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), shown_(shown) {}

  // The first guard region of the range, or an empty range at its end. False: cannot be read.
  bool find(const AddressRange& range, AddressRange& guard) const {
    return shown_ == GuardsShown::scan ? scan(range, guard) : read(range, guard);
  }

 private:
  bool scan(const AddressRange& range, AddressRange& guard) const {
    ScannedRegion region{};
    PagemapScan asked{.begin = range.begin,
                      .end = range.end,
                      .to = reinterpret_cast<uint64_t>(&region),
                      .most = 1,
                      .all_of = kIsGuard,
                      .returned = kIsGuard};
    const int found = ioctl(file_.get(), kPagemapScan, &asked);
    if (found < 0) return false;
    if (found == 0 && asked.walked < range.end) return false;
    guard = found > 0 ? AddressRange{region.begin, region.end} : AddressRange{range.end, range.end};
    return true;
  }

  bool read(const AddressRange& range, AddressRange& guard) const {
    guard = {range.end, range.end};
    uint64_t words[512];
    for (uint64_t at = range.begin; at < range.end;) {
      const auto asked = std::span(words).first(std::min<uint64_t>(std::size(words), (range.end - at) / kGuardPage));
      if (asked.empty() || !read_at(file_.get(), at / kGuardPage * sizeof(uint64_t), std::as_writable_bytes(asked))) return false;
      for (const uint64_t word : asked) {
        const bool is_guard = (word & kGuardBit) != 0, has_begun = guard.begin != range.end;
        if (is_guard && !has_begun) guard.begin = at;
        if (!is_guard && has_begun) return guard.end = at, true;
        at += kGuardPage;
      }
    }
    return true;
  }

  FileDescriptor file_;
  GuardsShown shown_;
};

// Of a page of dvm's own that is a guard region.
GuardsShown shown_for(const AddressRange& page) {
  for (const GuardsShown way : {GuardsShown::scan, GuardsShown::pagemap}) {
    AddressRange found;
    if (GuardSearch("/proc/self/pagemap", way).find(page, found) && found.begin == page.begin && found.end == page.end)
      return way;
  }
  return GuardsShown::hidden;
}

GuardsShown find_guards_shown() {
  void* page = mmap(nullptr, kGuardPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return GuardsShown::hidden;
  const auto begin = reinterpret_cast<uint64_t>(page);
  const GuardsShown shown =
      madvise(page, kGuardPage, kInstallGuard) == 0 ? shown_for({begin, begin + kGuardPage}) : GuardsShown::none;
  munmap(page, kGuardPage);
  return shown;
}

}  // namespace

GuardsShown guards_shown() {
  static const GuardsShown shown = find_guards_shown();
  return shown;
}

bool leave_out_guards(const std::string& folder, GuardsShown shown, std::vector<AddressRange>& ranges) {
  if (shown == GuardsShown::none || ranges.empty()) return true;
  if (shown == GuardsShown::hidden) return false;
  const GuardSearch search(folder + "/pagemap", shown);
  std::vector<AddressRange> left;
  size_t guards = 0;
  for (AddressRange rest : ranges)
    while (rest.begin < rest.end && guards < kMostGuards) {
      AddressRange guard;
      if (!search.find(rest, guard)) return false;
      if (rest.begin < guard.begin) left.push_back({rest.begin, guard.begin});
      if (guard.begin != rest.end) guards++;
      rest.begin = std::max(guard.end, guard.begin);
    }
  ranges = std::move(left);
  return true;
}

}  // namespace dvm::runtime
