#include "hostir/passes/host/member_regions.h"

#include <map>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/members.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

class MemberRegions {
 public:
  MemberRegions(Program& program, const Function& host)
      : program_(program),
        in_(host),
        names_(host),
        members_(program, in_),
        last_use_(host.values.size(), 0) {
    out_ = with_empty_body(host);
  }

  Function run() {
    const std::vector<InstrId>& body = in_.region(in_.body).instructions;
    std::vector<std::string> meshes;
    for (size_t at = 0; at < body.size(); ++at) {
      meshes.push_back(mesh_of(in_.instr(body[at])));
      for (const Instruction* member : members_of(in_, in_.instr(body[at]))) {
        for (const Operand& o : member->operands) {
          if (o.value.valid()) last_use_[o.value.index] = at;
        }
      }
    }
    for (size_t at = 0; at < body.size();) {
      if (meshes[at].empty()) {
        out_.add_instruction(out_.body, with_regions_in(out_, in_, in_.instr(body[at++])));
        continue;
      }
      const size_t end = end_of_region(body, meshes, at);
      add_region(body, at, end, meshes[at]);
      at = end;
    }
    return compacted(std::move(out_));
  }

 private:
  // A mesh of the ranks that run the instruction; empty: all ranks do.
  std::string mesh_of(const Instruction& i) {
    if (members_.set(i) == 0) return {};
    return mesh_of_ranks(program_, members_.ranks(i), "members");
  }

  // The index after the last instruction of the region that starts at `begin`.
  size_t end_of_region(const std::vector<InstrId>& body, const std::vector<std::string>& meshes,
                       size_t begin) const {
    std::set<uint32_t> made;  // events of the region
    size_t end = begin;
    for (size_t at = begin; at < body.size(); ++at) {
      const Instruction& i = in_.instr(body[at]);
      if (meshes[at] == meshes[begin]) {
        end = at + 1;
        for (const ValueId r : i.results) made.insert(r.index);
      } else if (i.kind != OpKind::wait || made.count(slot_value(i, "event").index) == 0) {
        break;
      }
    }
    return end;
  }

  void add_region(const std::vector<InstrId>& body, size_t begin, size_t end,
                  const std::string& mesh) {
    const RegionId inside = out_.add_region();
    std::vector<ValueId> yielded;
    std::map<uint32_t, ValueId> local;
    for (size_t at = begin; at < end; ++at) {
      Instruction i = with_regions_in(out_, in_, in_.instr(body[at]));
      rename(i, local);
      for (ValueId& r : i.results) {
        if (last_use_[r.index] < end) continue;
        yielded.push_back(r);
        const ValueId mine = out_.add_value(names_.fresh(in_.value(r).name), in_.value(r).type);
        out_.value(mine).origin = in_.value(r).origin;
        local[r.index] = mine;
        r = mine;
      }
      out_.add_instruction(inside, std::move(i));
    }
    Instruction where;
    where.kind = OpKind::where;
    where.attributes.set("mesh", Symbol{mesh});
    where.regions = {inside};
    if (!yielded.empty()) {
      std::vector<SlotUse> values;
      for (const ValueId r : yielded) values.push_back({"values", local[r.index]});
      out_.add_instruction(inside, host_instruction(OpKind::yield, values));
      for (SlotUse& use : values) use.value = ValueId();
      const RegionId others = out_.add_region();
      out_.add_instruction(others, host_instruction(OpKind::yield, values));
      where.regions.push_back(others);
      where.results = yielded;
    }
    out_.add_instruction(out_.body, std::move(where));
  }

  void rename(Instruction& i, const std::map<uint32_t, ValueId>& local) {
    for (Operand& o : i.operands) {
      const auto found = o.value.valid() ? local.find(o.value.index) : local.end();
      if (found != local.end()) o.value = found->second;
    }
    for (const RegionId region : i.regions) {
      for (const InstrId id : out_.region(region).instructions) rename(out_.instr(id), local);
    }
  }

  Program& program_;
  const Function& in_;
  Function out_;
  UniqueNames names_;
  Members members_;
  std::vector<size_t> last_use_;  // by value: index in the body
};

}  // namespace

void only_on_members(Program& program, const std::string& host) {
  if (Members(program, *program.find_function(host)).all_run_everything()) return;
  const Function before = *program.find_function(host);  // copied because meshes are added
  *program.find_function(host) = MemberRegions(program, before).run();
}

}  // namespace hostir
