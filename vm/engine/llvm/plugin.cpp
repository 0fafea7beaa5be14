// The plugin: DIF to LLVM IR (function.h), IR to an object in memory, the object to code (object.h). Covered by
// tests/unit/vm/native_test.cpp and the conformance tests of engine llvm.

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "translator_interface.h"
#include "vm/engine/llvm/check_access.h"
#include "vm/engine/llvm/function.h"
#include "vm/engine/llvm/object.h"

namespace dvm::vm::translate {

namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";
constexpr const char* kGeneralRegistersOnly = "-x87,-mmx,-sse,-sse2,-avx,-avx2,-avx512f,+soft-float";

// Instructions on general registers, where this machine has them: code runs where it was made.
std::string features(bool general_regs_only) {
  std::string all = general_regs_only ? kGeneralRegistersOnly : "";
  const auto here = llvm::sys::getHostCPUFeatures();
  for (const char* each : {"lzcnt", "bmi", "bmi2"})
    if (const auto found = here.find(each); found != here.end() && found->second)
      all += std::string(all.empty() ? "+" : ",+") + each;
  return all;
}

std::unique_ptr<llvm::TargetMachine> make_machine(bool general_regs_only) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, "x86-64", features(general_regs_only), {}, llvm::Reloc::PIC_, llvm::CodeModel::Small));
}

// Branches of a script mostly go one way, which the processor predicts. A choice without a branch waits for both values.
const llvm::SimplifyCFGOptions kBranches = llvm::SimplifyCFGOptions().speculateBlocks(false);

// DIF has no loops and no calls to inline, so few passes do.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SimplifyCFGPass(kBranches));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::DSEPass());
  passes.addPass(llvm::SimplifyCFGPass(kBranches));
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

class Compiler {
 public:
  template <class Request>
  native::Translation translate(const Request& request, void (*lower)(const Request&, llvm::Module&)) {
    llvm::LLVMContext context;
    llvm::Module module("dif", context);
    const bool has_passes = emitter_ && general_regs_only_ == request.general_regs_only;
    if (!has_passes && !make_passes(request.general_regs_only)) return {{}, "LLVM cannot make code for x86-64", 0};
    module.setTargetTriple(kTriple);
    module.setDataLayout(machine_->createDataLayout());
    lower(request, module);
    for (llvm::Function& function : module) {
      if (std::string unproven = unproven_access(function); !unproven.empty()) return {{}, std::move(unproven), 0};
      if (request.general_regs_only) function.addFnAttr(llvm::Attribute::NoImplicitFloat);
    }
    optimize(module, *machine_);
    return emit(module);
  }

 private:
  // Their making takes a fifth of a translation, so they are made once.
  bool make_passes(bool general_regs_only) {
    emitter_.reset();
    machine_ = make_machine(general_regs_only);
    general_regs_only_ = general_regs_only;
    if (!machine_) return false;
    auto passes = std::make_unique<llvm::legacy::PassManager>();
    if (machine_->addPassesToEmitFile(*passes, out_, nullptr, llvm::CodeGenFileType::ObjectFile)) return false;
    emitter_ = std::move(passes);
    return true;
  }
  native::Translation emit(llvm::Module& module) {
    object_.clear();
    llvm::legacy::PassManager* const passes = emitter_.release();  // lost if it throws: they are then in no known state
    passes->run(module);
    emitter_.reset(passes);
    return code_of(llvm::MemoryBufferRef(llvm::StringRef(object_.data(), object_.size()), "dif"));
  }

  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 4096> object_;
  llvm::raw_svector_ostream out_{object_};
  std::unique_ptr<llvm::legacy::PassManager> emitter_;  // from IR to `object_`
  bool general_regs_only_ = false;
};

// LLVM would end the process.
bool throw_errors() {
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
  llvm::install_fatal_error_handler(
      [](void*, const char* reason, bool) { throw std::runtime_error(std::string("LLVM fails: ") + reason); });
  return true;
}

// Any thread may translate.
template <class Request>
native::Translation translate(const Request& request, void (*lower)(const Request&, llvm::Module&)) {
  static std::mutex mutex;
  static auto& compiler = *new Compiler;  // for threads that translate while the program ends
  const std::lock_guard lock(mutex);
  [[maybe_unused]] static const bool kThrows = throw_errors();
  return compiler.translate(request, lower);
}

constexpr native::TranslatorPlugin kTranslator{native::kInterface, LLVM_VERSION_STRING,
                                               [](const native::Request& request) { return translate(request, lower_difo); },
                                               [](const native::BodyCode& request) { return translate(request, lower_body); }};

}  // namespace

}  // namespace dvm::vm::translate

extern "C" [[gnu::visibility("default")]] const dvm::vm::native::TranslatorPlugin* dvm_translator() {
  return &dvm::vm::translate::kTranslator;
}
