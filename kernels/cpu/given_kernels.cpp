#include "kernels/cpu/given_kernels.h"

#include <map>
#include <mutex>
#include <utility>

namespace hostir::cpu {

namespace {

struct Given {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const GivenKernel>> kernels;
};

Given& given() {
  static Given all;
  return all;
}

}  // namespace

void give_kernel(const std::string& operation, GivenKernel kernel) {
  auto shared = std::make_shared<const GivenKernel>(std::move(kernel));
  const std::scoped_lock lock(given().mutex);
  given().kernels[operation] = std::move(shared);
}

std::shared_ptr<const GivenKernel> given_kernel(const std::string& operation) {
  const std::scoped_lock lock(given().mutex);
  const auto found = given().kernels.find(operation);
  return found == given().kernels.end() ? nullptr : found->second;
}

}  // namespace hostir::cpu
