// Names of the kernel's addresses, from texts like those of /proc, and the frames that are the tracer's.

#include "runtime/symbol/kernel_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel_address.h"
#include "runtime/instrument/uprobe/tracer_frames.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kSymbols[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000100 t __do_sys_read\n"
    "ffffffff81000100 T do_read\n"
    "ffffffff81000100 t a\n"
    "ffffffff81000300 T bpf_trace_run2\n"
    "ffffffff81000400 T schedule\n"
    "ffffffffc0000000 t init\t[nft]\n"
    "ffffffffc0000040 t nft_do\t[nft]\n"
    "ffffffffc0100000 t first\t[loop]\n"
    "garbage\n"
    "ffffffffc0100000\n";
constexpr char kModules[] =
    "nft 4096 1 - Live 0xffffffffc0000000\n"
    "loop 8192 0 - Live 0xffffffffc0100000 (E)\n";

std::string name_of(const KernelSymbols& symbols, uint64_t address) {
  const auto found = symbols.find(address);
  return found ? std::string(found->module) + "`" + std::string(found->function) : "none";
}

TEST(KernelSymbolsTest, NamesFunctionsAndModules) {
  const KernelSymbols symbols(kSymbols, kModules);
  EXPECT_FALSE(symbols.is_hidden());
  EXPECT_EQ(name_of(symbols, 0xffffffff81000000), "vmlinux`_stext");
  EXPECT_EQ(name_of(symbols, 0xffffffff81000105), "vmlinux`do_read") << "the global name is the better one";
  EXPECT_EQ(name_of(symbols, 0xffffffffc0000047), "nft`nft_do");
  EXPECT_EQ(name_of(symbols, 0xffffffffc0101fff), "loop`first");
  EXPECT_EQ(symbols.find(0xffffffffc0000047)->address, 0xffffffffc0000040);
  EXPECT_EQ(symbols.find(0xffffffffc0000047)->module_address, 0xffffffffc0000000);
}

TEST(KernelSymbolsTest, LeavesAddressesBeyondTheirEndsWithoutAName) {
  const KernelSymbols symbols(kSymbols, kModules);
  EXPECT_EQ(name_of(symbols, 0xffffffff80ffffff), "none");
  EXPECT_EQ(name_of(symbols, 0xffffffff81000400), "vmlinux`schedule");
  EXPECT_EQ(name_of(symbols, 0xffffffff81000401), "none") << "nothing says how long the last one is";
  EXPECT_EQ(name_of(symbols, 0xffffffffc0001000), "none") << "beyond the module";
  EXPECT_EQ(name_of(symbols, 0x401000), "none");
}

TEST(KernelSymbolsTest, KnowsThatTheyAreHidden) {
  const KernelSymbols symbols("0000000000000000 T _stext\n0000000000000000 T schedule\n", "");
  EXPECT_TRUE(symbols.is_hidden());
  EXPECT_EQ(name_of(symbols, 0xffffffff81000000), "none");
  EXPECT_FALSE(TracerFrames().learn(symbols));
}

TEST(KernelSymbolsTest, TracerFramesEndBeforeTheFunctionOfTheTracepoint) {
  TracerFrames frames;
  ASSERT_TRUE(frames.learn(KernelSymbols(kSymbols, kModules)));
  const std::vector<uint64_t> stack = {0xffffffffc0200000, 0xffffffff81000310, 0xffffffff81000105, 0xffffffff81000000};
  EXPECT_THAT(frames.without(stack), ElementsAre(0xffffffff81000105, 0xffffffff81000000));
  EXPECT_THAT(frames.without(std::span(stack).subspan(2)), ElementsAre(0xffffffff81000105, 0xffffffff81000000));
  EXPECT_THAT(frames.without({}), IsEmpty());
}

TEST(KernelSymbolsTest, AddressesOfTheKernelGetTheirTopBitBack) {
  EXPECT_EQ(with_top_bit(0x7fffffff81000000), 0xffffffff81000000);
  EXPECT_EQ(with_top_bit(0xffff888000000000), 0xffff888000000000);
  EXPECT_EQ(with_top_bit(0x00007fffffffffff), 0x00007fffffffffff);
}

}  // namespace
}  // namespace dvm::runtime
