// Follows a run and tracks what each element of each buffer stands for (algebra.h). Two runs that
// share an algebra can be compared: equal tokens mean equal values, up to rounding.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "interp/core/code/launch_operands.h"
#include "interp/sim/buffer_observer.h"
#include "interp/sim/proof/kernel_terms.h"
#include "interp/sim/proof/moved_values.h"

namespace hostir::interp {
class Interpreter;
}

namespace hostir::sim::proof {

class Prover final : public BufferObserver {
 public:
  /// `parameters`: a name for each parameter, the same in runs that are compared. The fusion's run
  /// comes first.
  Prover(Algebra& algebra, MovedValues& moved, Side side, const interp::Code& code,
         std::vector<std::string> parameters);

  /// Puts the parameters into the buffers; call once they are bound.
  void begin(const interp::Interpreter& interpreter);

  void allocated(Rank rank, const BufferRef& ref) override;
  void released(Rank rank, const BufferRef& ref) override;
  void launched(Rank rank, interp::CodeIndex code, std::span<const BufferRef> buffers) override;
  void exchanged(Exchanged what) override;

  /// The elements of a buffer, row-major over its box.
  Tokens read(Rank rank, const BufferRef& ref);

  /// A state that an instruction wrote. Ordered by time; each state occurs once.
  struct Written {
    interp::CodeIndex code = 0;
    Rank rank = 0;
    size_t operand = 0;  // of the instruction
    StateId state = 0;
  };
  const std::vector<Written>& written() const { return written_; }
  /// `%y`; empty for a group, whose members write several values.
  std::string name_of(const Written& w) const;
  /// The kernels that ran on parts of values, as their own sharding rules allow.
  const std::set<std::string>& rules() const { return rules_; }

  /// Why the elements of a buffer that nothing has written are unknown.
  static constexpr const char* kUnwritten = "elements that nothing has written";

 private:
  /// The kernel of a launch with these operands, expanded.
  const Function& kernel_for(const Function& kernel, const interp::LaunchPlacements& operands);
  void write(Rank rank, const BufferRef& ref, const Tokens& tokens);
  void note(interp::CodeIndex code, Rank rank, const BufferRef& ref, size_t operand);

  Algebra& algebra_;
  MovedValues& moved_;
  Side side_;
  const interp::Code& code_;
  std::vector<std::string> parameters_;
  SimMemory memory_;
  std::vector<Written> written_;
  std::set<std::pair<interp::CodeIndex, StateId>> noted_;
  std::map<std::string, Function> kernels_;  // by name and sizes
  std::set<std::string> rules_;
};

}  // namespace hostir::sim::proof
