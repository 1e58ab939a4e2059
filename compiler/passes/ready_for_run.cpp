#include "compiler/passes/ready_for_run.h"

#include <utility>

#include "compiler/ir/program.h"
#include "compiler/passes/check_chip_limits.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/move_transposes.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/scale_images.h"

namespace systole::passes {

ir::Graph ready_for_run(ir::Graph graph, const RunNeeds& needs) {
    check_chip_limits(graph);
    PassManager passes;
    if (!ir::is_program(graph)) passes.add("move_transposes", move_transposes);
    if (needs.timing_only) passes.add("drop_weights", drop_weights);
    if (const std::uint32_t factor = needs.image_factor; factor != 1) {
        passes.add_enlarging("scale_images", factor,
                             [factor](ir::Graph small) { return scale_images(std::move(small), factor); });
    }
    return passes.run(std::move(graph));
}

}  // namespace systole::passes
