#include "kernels/cuda/nvrtc.h"

#include <fmt/core.h>
#include <nvrtc.h>

#include <array>
#include <memory>
#include <vector>

#include "kernels/cuda/kernel.h"
#include "kernels/cuda/shared_library.h"

namespace hostir::cuda {
namespace {

struct Nvrtc {
  decltype(nvrtcVersion)* version = nullptr;
  decltype(nvrtcCreateProgram)* create_program = nullptr;
  decltype(nvrtcDestroyProgram)* destroy_program = nullptr;
  decltype(nvrtcCompileProgram)* compile_program = nullptr;
  decltype(nvrtcGetCUBINSize)* cubin_size = nullptr;
  decltype(nvrtcGetCUBIN)* cubin = nullptr;
  decltype(nvrtcGetProgramLogSize)* log_size = nullptr;
  decltype(nvrtcGetProgramLog)* log = nullptr;
};

Expected<Nvrtc> open_nvrtc() {
  HOSTIR_ASSIGN_OR_RETURN(SharedLibrary library,
                          SharedLibrary::open({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}));
  Nvrtc n;
  library.bind(n.version, "nvrtcVersion");
  library.bind(n.create_program, "nvrtcCreateProgram");
  library.bind(n.destroy_program, "nvrtcDestroyProgram");
  library.bind(n.compile_program, "nvrtcCompileProgram");
  library.bind(n.cubin_size, "nvrtcGetCUBINSize");
  library.bind(n.cubin, "nvrtcGetCUBIN");
  library.bind(n.log_size, "nvrtcGetProgramLogSize");
  library.bind(n.log, "nvrtcGetProgramLog");
  HOSTIR_TRY(library.check());
  return n;
}

const Expected<Nvrtc>& nvrtc() {
  static const Expected<Nvrtc> library = open_nvrtc();
  return library;
}

constexpr std::array<const char*, 3> kOptions = {"--std=c++17", "--fmad=false",
                                                 "--device-as-default-execution-space"};

}  // namespace

Expected<std::string> compile_text(const std::string& text, const std::string& arch) {
  if (!nvrtc()) return tl::unexpected(nvrtc().error());
  const Nvrtc& n = *nvrtc();
  const std::string source = std::string(kernel_prelude()) + "using namespace hk;\n\n" + text;
  nvrtcProgram program = nullptr;
  if (n.create_program(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) !=
      NVRTC_SUCCESS) {
    return fail(ErrorKind::kRuntime, "cuda_compile", "NVRTC cannot make a program");
  }
  const std::unique_ptr<nvrtcProgram, void (*)(nvrtcProgram*)> owner(
      &program, [](nvrtcProgram* p) { static_cast<void>(nvrtc()->destroy_program(p)); });
  const std::string target = "--gpu-architecture=" + arch;
  std::vector<const char*> options(kOptions.begin(), kOptions.end());
  options.push_back(target.c_str());
  const nvrtcResult result =
      n.compile_program(program, static_cast<int>(options.size()), options.data());
  if (result != NVRTC_SUCCESS) {
    size_t size = 0;
    std::string log;
    if (n.log_size(program, &size) == NVRTC_SUCCESS) {
      log.resize(size);
      static_cast<void>(n.log(program, log.data()));
    }
    return fail(ErrorKind::kRuntime, "cuda_compile",
                fmt::format("NVRTC cannot compile a generated kernel for {}:\n{}", arch, log));
  }
  size_t size = 0;
  static_cast<void>(n.cubin_size(program, &size));
  std::string code(size, '\0');
  if (size == 0 || n.cubin(program, code.data()) != NVRTC_SUCCESS) {
    return fail(ErrorKind::kRuntime, "cuda_compile",
                fmt::format("NVRTC made no machine code for {}", arch));
  }
  return code;
}

Expected<std::string> compiler_version() {
  if (!nvrtc()) return tl::unexpected(nvrtc().error());
  int major = 0;
  int minor = 0;
  static_cast<void>(nvrtc()->version(&major, &minor));
  return fmt::format("{}.{}", major, minor);
}

Expected<void> check_sources(const std::vector<KernelSource>& sources, const std::string& arch) {
  std::string text;
  for (const KernelSource& source : sources) text += source.text;
  HOSTIR_TRY(compile_text(text, arch));
  return {};
}

}  // namespace hostir::cuda
