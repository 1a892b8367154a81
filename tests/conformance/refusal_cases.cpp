// A backend rejects what it cannot do, in prepare or at issue, with a reason. The run ends; nothing
// aborts.
#include "cases.h"
#include "hostir/text/parse/parser.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

// More memory in one buffer than any machine has.
constexpr const char* kHuge = R"(mesh @m = <r=1>
host @f on @m (%x: tensor<4xf32>) -> (%x: tensor<4xf32>) {
  %s = stream "main"
  %t = alloc on %s : tensor<40000000000000xf32>
  free %t on %s
  return %x
}
)";

// Kernels are compiled before the run, so the rejection also comes before it.
void expect_not_prepared(const BackendUnderTest& backend, const std::string& text,
                         const std::string& id) {
  auto program = text::parse_program(text);
  ASSERT_TRUE(program) << program.error().message();
  const auto code = interp::compile_code(std::make_shared<Program>(std::move(*program)), {});
  ASSERT_TRUE(code) << code.error().message();
  const auto prepared = backend.make()->prepare(**code);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().diagnostics.front().id, id);
}

// The two parts held by rank 1 are not aligned, so they cannot be added.
constexpr const char* kParts = R"(mesh @m = <r=2>
kernel @sum(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%x: shard<4xf32, @m, [{r}]>) -> (%y: tensor<4xf32>) {
  %s = stream "main"
  %y = alloc on %s : tensor<4xf32>
  launch @sum ro(%x) wo(%y) on %s
  return %y
}
)";

// A size known only to the host does not match the kernel's.
constexpr const char* kSizes = R"(mesh @m = <r=1>
kernel @sum(%x: tensor<?Nxf32>, %z: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %z
  return %y
}
host @f on @m (%n: tensor<1xi32>, %x: tensor<4xf32>, inout %y: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %s = stream "main"
  %k = read %n[0]
  %a = subview %x[0:%k]
  launch @sum ro(%a, %x) wo(%y) on %s
  return %y
}
)";

}  // namespace

void add_refusal_cases(CaseList& cases) {
  cases.push_back({"refusal_of_a_buffer_too_large", [](const BackendUnderTest& b) {
                     expect_fault(b, kHuge, {tensor("4xf32=1")}, "max_memory");
                   }});
  cases.push_back({"refusal_of_parts_that_do_not_fit", [](const BackendUnderTest& b) {
                     expect_not_prepared(b, kParts, "kernel_box");
                   }});
  cases.push_back({"refusal_of_sizes_that_do_not_fit", [](const BackendUnderTest& b) {
                     expect_fault(b, kSizes,
                                  {tensor("1xi32=3"), tensor("4xf32=1"), tensor("4xf32=1")},
                                  "kernel_");
                   }});
}

}  // namespace hostir::conformance
