"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["pp"=2, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "pp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "sdy.mesh"() <{mesh = #sdy.mesh<["pp"=2, "tp"=2]>, sym_name = "mesh_0"}> {stablehlo.mesh = {axes = [{name = "pp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"pp"}, {}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}], function_type = (tensor<2x8x8xf32>, tensor<3x4x8xf32>) -> tensor<2x8x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg48: tensor<2x8x8xf32>, %arg49: tensor<3x4x8xf32>):
    %91:10 = "sdy.manual_computation"(%arg48, %arg49) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{?}, {?}, {?}]>]>, manual_axes = #sdy<manual_axes{"pp"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>]>}> ({
    ^bb0(%arg84: tensor<1x8x8xf32>, %arg85: tensor<3x4x8xf32>):
      %172 = "stablehlo.reshape"(%arg84) : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %173 = "sdy.sharding_constraint"(%172) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %174 = "sdy.manual_computation"() <{in_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{"tp"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, []>]>}> ({
        %329 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
        %330 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
        %331 = "stablehlo.partition_id"() : () -> tensor<ui32>
        %332 = "stablehlo.divide"(%331, %329) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
        %333 = "stablehlo.remainder"(%332, %330) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
        %334 = "stablehlo.convert"(%333) : (tensor<ui32>) -> tensor<i32>
        "sdy.return"(%334) : (tensor<i32>) -> ()
      }) : () -> tensor<i32>
      %175 = "sdy.sharding_constraint"(%174) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %176 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %177 = "stablehlo.broadcast_in_dim"(%176) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
      %178 = "sdy.sharding_constraint"(%177) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %179 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %180 = "stablehlo.broadcast_in_dim"(%179) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4x8xf32>
      %181 = "sdy.sharding_constraint"(%180) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %182 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
      %183 = "sdy.sharding_constraint"(%182) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi32>) -> tensor<4xi32>
      %184 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %185 = "stablehlo.compare"(%175, %184) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %186 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %187 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %188:2 = "func.call"(%186, %187) <{callee = @clip}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %189 = "sdy.sharding_constraint"(%188#0) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %190 = "sdy.sharding_constraint"(%188#1) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %191 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %192 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %193 = "stablehlo.compare"(%191, %192) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %194 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %195 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %196 = "stablehlo.add"(%194, %195) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %197 = "sdy.sharding_constraint"(%196) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %198 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %199 = "stablehlo.select"(%193, %197, %198) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %200 = "sdy.sharding_constraint"(%199) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %201 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %202 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %203 = "stablehlo.compare"(%201, %202) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %204 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %205 = "stablehlo.constant"() <{value = dense<8> : tensor<i32>}> : () -> tensor<i32>
      %206 = "stablehlo.add"(%204, %205) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %207 = "sdy.sharding_constraint"(%206) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %208 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %209 = "stablehlo.select"(%203, %207, %208) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %210 = "sdy.sharding_constraint"(%209) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %211 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %212 = "stablehlo.compare"(%175, %211) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %213 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %214 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %215:2 = "func.call"(%213, %214) <{callee = @clip}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %216 = "sdy.sharding_constraint"(%215#0) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %217 = "sdy.sharding_constraint"(%215#1) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %218:2 = "func.call"() <{callee = @dynamic_update_index_in_dim}> : () -> (tensor<i32>, tensor<i32>)
      %219 = "sdy.sharding_constraint"(%218#0) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %220 = "sdy.sharding_constraint"(%218#1) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %221 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %222 = "stablehlo.broadcast_in_dim"(%221) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x8xf32>
      %223 = "sdy.sharding_constraint"(%222) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
      %224 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %225 = "stablehlo.broadcast_in_dim"(%224) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x8xf32>
      %226 = "sdy.sharding_constraint"(%225) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
      %227 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %228 = "stablehlo.broadcast_in_dim"(%227) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
      %229 = "sdy.sharding_constraint"(%228) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi32>) -> tensor<4xi32>
      %230 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %231 = "stablehlo.broadcast_in_dim"(%230) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<4xi1>
      %232 = "sdy.sharding_constraint"(%231) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi1>) -> tensor<4xi1>
      %233 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %234:20 = "stablehlo.while"(%183, %arg85, %189, %190, %200, %210, %185, %173, %212, %216, %217, %219, %220, %233, %178, %181, %223, %226, %229, %232) ({
      ^bb0(%arg108: tensor<4xi32>, %arg109: tensor<3x4x8xf32>, %arg110: tensor<i32>, %arg111: tensor<i32>, %arg112: tensor<i32>, %arg113: tensor<i32>, %arg114: tensor<i1>, %arg115: tensor<8x8xf32>, %arg116: tensor<i1>, %arg117: tensor<i32>, %arg118: tensor<i32>, %arg119: tensor<i32>, %arg120: tensor<i32>, %arg121: tensor<i32>, %arg122: tensor<4x8xf32>, %arg123: tensor<3x4x8xf32>, %arg124: tensor<4x4x8xf32>, %arg125: tensor<4x4x8xf32>, %arg126: tensor<4xi32>, %arg127: tensor<4xi1>):
        %325 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
        %326 = "sdy.sharding_constraint"(%arg121) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %327 = "sdy.sharding_constraint"(%325) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %328 = "stablehlo.compare"(%326, %327) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%328) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg88: tensor<4xi32>, %arg89: tensor<3x4x8xf32>, %arg90: tensor<i32>, %arg91: tensor<i32>, %arg92: tensor<i32>, %arg93: tensor<i32>, %arg94: tensor<i1>, %arg95: tensor<8x8xf32>, %arg96: tensor<i1>, %arg97: tensor<i32>, %arg98: tensor<i32>, %arg99: tensor<i32>, %arg100: tensor<i32>, %arg101: tensor<i32>, %arg102: tensor<4x8xf32>, %arg103: tensor<3x4x8xf32>, %arg104: tensor<4x4x8xf32>, %arg105: tensor<4x4x8xf32>, %arg106: tensor<4xi32>, %arg107: tensor<4xi1>):
        %258 = "func.call"(%arg88, %arg101) <{callee = @dynamic_index_in_dim}> : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
        %259 = "sdy.sharding_constraint"(%258) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %260 = "func.call"(%259, %arg90, %arg91) <{callee = @clip_0}> : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
        %261 = "sdy.sharding_constraint"(%260) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %262 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
        %263 = "stablehlo.compare"(%261, %262) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %264 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
        %265 = "stablehlo.add"(%261, %264) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %266 = "sdy.sharding_constraint"(%265) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %267 = "stablehlo.select"(%263, %266, %261) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
        %268 = "sdy.sharding_constraint"(%267) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %269 = "stablehlo.dynamic_slice"(%arg89, %268, %arg92, %arg93) <{slice_sizes = array<i64: 1, 4, 8>}> : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
        %270 = "sdy.sharding_constraint"(%269) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
        %271 = "stablehlo.reshape"(%270) : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
        %272 = "sdy.sharding_constraint"(%271) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %273 = "func.call"(%272, %arg102, %arg94) <{callee = @_where}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i1>) -> tensor<4x8xf32>
        %274 = "sdy.sharding_constraint"(%273) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %275 = "stablehlo.dot_general"(%274, %arg95) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
        %276 = "sdy.sharding_constraint"(%275) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %277 = "stablehlo.tanh"(%276) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %278 = "sdy.sharding_constraint"(%277) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %279 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
        %280 = "stablehlo.broadcast_in_dim"(%279) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
        %281 = "sdy.sharding_constraint"(%280) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %282 = "stablehlo.add"(%281, %278) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %283 = "sdy.sharding_constraint"(%282) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %284 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
        %285 = "stablehlo.broadcast_in_dim"(%284) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
        %286 = "sdy.sharding_constraint"(%285) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %287 = "stablehlo.subtract"(%286, %278) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %288 = "sdy.sharding_constraint"(%287) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %289 = "stablehlo.multiply"(%283, %288) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %290 = "sdy.sharding_constraint"(%289) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %291 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %292 = "stablehlo.compare"(%259, %291) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %293 = "stablehlo.and"(%arg96, %292) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %294 = "sdy.sharding_constraint"(%293) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i1>) -> tensor<i1>
        %295 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %296 = "stablehlo.subtract"(%259, %295) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %297 = "sdy.sharding_constraint"(%296) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %298 = "func.call"(%297, %arg97, %arg98) <{callee = @clip_0}> : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
        %299 = "sdy.sharding_constraint"(%298) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %300:2 = "func.call"(%arg103, %278, %299, %arg99, %arg100) <{callee = @dynamic_update_index_in_dim_1}> : (tensor<3x4x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<3x4x8xf32>, tensor<i32>)
        %301 = "sdy.sharding_constraint"(%300#0) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %302 = "sdy.sharding_constraint"(%300#1) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %303 = "func.call"(%294, %301, %arg103) <{callee = @_where_2}> : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %304 = "sdy.sharding_constraint"(%303) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %305 = "stablehlo.collective_permute"(%278) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %306 = "sdy.sharding_constraint"(%305) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %307 = "sdy.sharding_constraint"(%304) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %308 = "sdy.sharding_constraint"(%274) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %309 = "sdy.sharding_constraint"(%290) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %310 = "sdy.sharding_constraint"(%302) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %311 = "sdy.sharding_constraint"(%294) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i1>) -> tensor<i1>
        %312 = "func.call"(%arg104, %308, %arg101) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x4x8xf32>
        %313 = "sdy.sharding_constraint"(%312) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
        %314 = "func.call"(%arg105, %309, %arg101) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x4x8xf32>
        %315 = "sdy.sharding_constraint"(%314) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
        %316 = "func.call"(%arg106, %310, %arg101) <{callee = @dynamic_update_index_in_dim_4}> : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
        %317 = "sdy.sharding_constraint"(%316) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi32>) -> tensor<4xi32>
        %318 = "func.call"(%arg107, %311, %arg101) <{callee = @dynamic_update_index_in_dim_5}> : (tensor<4xi1>, tensor<i1>, tensor<i32>) -> tensor<4xi1>
        %319 = "sdy.sharding_constraint"(%318) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi1>) -> tensor<4xi1>
        %320 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %321 = "sdy.sharding_constraint"(%arg101) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %322 = "sdy.sharding_constraint"(%320) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %323 = "stablehlo.add"(%321, %322) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %324 = "sdy.sharding_constraint"(%323) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%arg88, %arg89, %arg90, %arg91, %arg92, %arg93, %arg94, %arg95, %arg96, %arg97, %arg98, %arg99, %arg100, %324, %306, %307, %313, %315, %317, %319) : (tensor<4xi32>, tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>) -> ()
      }) : (tensor<4xi32>, tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>) -> (tensor<4xi32>, tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>)
      %235 = "sdy.sharding_constraint"(%234#13) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %236 = "sdy.sharding_constraint"(%234#14) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %237 = "sdy.sharding_constraint"(%234#15) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %238 = "sdy.sharding_constraint"(%234#16) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
      %239 = "sdy.sharding_constraint"(%234#17) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
      %240 = "sdy.sharding_constraint"(%234#18) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi32>) -> tensor<4xi32>
      %241 = "sdy.sharding_constraint"(%234#19) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi1>) -> tensor<4xi1>
      %242 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %243 = "stablehlo.compare"(%175, %242) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %244 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %245 = "func.call"(%243, %237, %244) <{callee = @_where_6}> : (tensor<i1>, tensor<3x4x8xf32>, tensor<i32>) -> tensor<3x4x8xf32>
      %246 = "sdy.sharding_constraint"(%245) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %247 = "stablehlo.all_reduce"(%246) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "pp">]>, use_global_device_ids}> ({
      ^bb0(%arg86: tensor<f32>, %arg87: tensor<f32>):
        %256 = "stablehlo.add"(%arg86, %arg87) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %257 = "sdy.sharding_constraint"(%256) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%257) : (tensor<f32>) -> ()
      }) : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %248 = "stablehlo.broadcast_in_dim"(%185) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
      %249 = "sdy.sharding_constraint"(%248) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi1>) -> tensor<1xi1>
      %250 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
      %251 = "sdy.sharding_constraint"(%250) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi32>) -> tensor<1xi32>
      %252 = "stablehlo.broadcast_in_dim"(%220) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
      %253 = "sdy.sharding_constraint"(%252) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi32>) -> tensor<1xi32>
      %254 = "stablehlo.broadcast_in_dim"(%243) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
      %255 = "sdy.sharding_constraint"(%254) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi1>) -> tensor<1xi1>
      "sdy.return"(%247, %249, %173, %251, %253, %238, %239, %240, %241, %255) : (tensor<3x4x8xf32>, tensor<1xi1>, tensor<8x8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<1xi1>) -> ()
    }) : (tensor<2x8x8xf32>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<2xi1>, tensor<16x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8xi32>, tensor<8xi1>, tensor<2xi1>)
    %92 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4x8xf32>
    %94 = "stablehlo.multiply"(%93, %91#0) : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %95 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %96 = "stablehlo.constant"() <{value = dense<9.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %97 = "stablehlo.divide"(%95, %96) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4x8xf32>
    %99 = "stablehlo.multiply"(%98, %94) : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %100 = "sdy.manual_computation"(%99, %91#1, %91#2, %91#3, %91#4, %91#5, %91#6, %91#7, %91#8, %91#9) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>]>, manual_axes = #sdy<manual_axes{"pp"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"pp", ?}, {?}, {?}]>]>}> ({
    ^bb0(%arg50: tensor<3x4x8xf32>, %arg51: tensor<1xi1>, %arg52: tensor<8x8xf32>, %arg53: tensor<1xi32>, %arg54: tensor<1xi32>, %arg55: tensor<4x4x8xf32>, %arg56: tensor<4x4x8xf32>, %arg57: tensor<4xi32>, %arg58: tensor<4xi1>, %arg59: tensor<1xi1>):
      %101 = "stablehlo.reshape"(%arg51) : (tensor<1xi1>) -> tensor<i1>
      %102 = "sdy.sharding_constraint"(%101) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i1>) -> tensor<i1>
      %103 = "stablehlo.reshape"(%arg53) : (tensor<1xi32>) -> tensor<i32>
      %104 = "sdy.sharding_constraint"(%103) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %105 = "stablehlo.reshape"(%arg54) : (tensor<1xi32>) -> tensor<i32>
      %106 = "sdy.sharding_constraint"(%105) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %107 = "stablehlo.reshape"(%arg59) : (tensor<1xi1>) -> tensor<i1>
      %108 = "sdy.sharding_constraint"(%107) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i1>) -> tensor<i1>
      %109 = "func.call"(%108, %arg50) <{callee = @_where_7}> : (tensor<i1>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %110 = "sdy.sharding_constraint"(%109) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %111 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
      %113 = "sdy.sharding_constraint"(%112) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %114 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x8xf32>
      %116 = "sdy.sharding_constraint"(%115) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %117 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %118:12 = "stablehlo.while"(%arg55, %arg56, %arg57, %arg58, %102, %arg52, %104, %106, %117, %116, %113, %110) ({
      ^bb0(%arg72: tensor<4x4x8xf32>, %arg73: tensor<4x4x8xf32>, %arg74: tensor<4xi32>, %arg75: tensor<4xi1>, %arg76: tensor<i1>, %arg77: tensor<8x8xf32>, %arg78: tensor<i32>, %arg79: tensor<i32>, %arg80: tensor<i32>, %arg81: tensor<8x8xf32>, %arg82: tensor<4x8xf32>, %arg83: tensor<3x4x8xf32>):
        %168 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
        %169 = "sdy.sharding_constraint"(%arg80) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %170 = "sdy.sharding_constraint"(%168) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %171 = "stablehlo.compare"(%169, %170) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%171) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg60: tensor<4x4x8xf32>, %arg61: tensor<4x4x8xf32>, %arg62: tensor<4xi32>, %arg63: tensor<4xi1>, %arg64: tensor<i1>, %arg65: tensor<8x8xf32>, %arg66: tensor<i32>, %arg67: tensor<i32>, %arg68: tensor<i32>, %arg69: tensor<8x8xf32>, %arg70: tensor<4x8xf32>, %arg71: tensor<3x4x8xf32>):
        %125 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
        %126 = "stablehlo.subtract"(%125, %arg68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %127 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %128 = "stablehlo.subtract"(%126, %127) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %129 = "func.call"(%arg60, %128) <{callee = @dynamic_index_in_dim_8}> : (tensor<4x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %130 = "sdy.sharding_constraint"(%129) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %131 = "func.call"(%arg61, %128) <{callee = @dynamic_index_in_dim_8}> : (tensor<4x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %132 = "sdy.sharding_constraint"(%131) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %133 = "func.call"(%arg62, %128) <{callee = @dynamic_index_in_dim_9}> : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
        %134 = "sdy.sharding_constraint"(%133) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %135 = "func.call"(%arg63, %128) <{callee = @dynamic_index_in_dim_10}> : (tensor<4xi1>, tensor<i32>) -> tensor<i1>
        %136 = "sdy.sharding_constraint"(%135) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i1>) -> tensor<i1>
        %137 = "stablehlo.collective_permute"(%arg70) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[2, 0], [0, 2], [3, 1], [1, 3]]> : tensor<4x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %138:2 = "func.call"(%136, %arg71) <{callee = @_where_11}> : (tensor<i1>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<3x4x8xf32>)
        %139 = "sdy.sharding_constraint"(%138#0) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %140 = "sdy.sharding_constraint"(%138#1) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %141:2 = "func.call"(%134, %arg66, %arg67, %139) <{callee = @dynamic_update_index_in_dim_12}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<4x8xf32>)
        %142 = "sdy.sharding_constraint"(%141#0) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %143 = "sdy.sharding_constraint"(%141#1) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %144 = "stablehlo.add"(%140, %142) : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %145 = "sdy.sharding_constraint"(%144) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %146 = "stablehlo.add"(%137, %143) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %147 = "sdy.sharding_constraint"(%146) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %148 = "stablehlo.multiply"(%147, %132) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %149 = "sdy.sharding_constraint"(%148) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %150 = "stablehlo.dot_general"(%149, %130) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
        %151 = "sdy.sharding_constraint"(%150) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %152 = "stablehlo.transpose"(%151) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %153 = "sdy.sharding_constraint"(%152) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %154 = "stablehlo.add"(%arg69, %153) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        %155 = "sdy.sharding_constraint"(%154) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %156 = "stablehlo.dot_general"(%149, %arg65) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
        %157 = "sdy.sharding_constraint"(%156) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %158 = "func.call"(%arg64, %157) <{callee = @_where_13}> : (tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %159 = "sdy.sharding_constraint"(%158) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %160 = "sdy.sharding_constraint"(%155) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %161 = "sdy.sharding_constraint"(%159) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %162 = "sdy.sharding_constraint"(%145) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %163 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %164 = "sdy.sharding_constraint"(%arg68) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %165 = "sdy.sharding_constraint"(%163) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        %166 = "stablehlo.add"(%164, %165) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %167 = "sdy.sharding_constraint"(%166) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%arg60, %arg61, %arg62, %arg63, %arg64, %arg65, %arg66, %arg67, %167, %160, %161, %162) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<3x4x8xf32>) -> ()
      }) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<3x4x8xf32>) -> (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<3x4x8xf32>)
      %119 = "sdy.sharding_constraint"(%118#8) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
      %120 = "sdy.sharding_constraint"(%118#9) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %121 = "sdy.sharding_constraint"(%118#10) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %122 = "sdy.sharding_constraint"(%118#11) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %123 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      %124 = "sdy.sharding_constraint"(%123) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
      "sdy.return"(%124) : (tensor<1x8x8xf32>) -> ()
    }) : (tensor<3x4x8xf32>, tensor<2xi1>, tensor<16x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8xi32>, tensor<8xi1>, tensor<2xi1>) -> tensor<2x8x8xf32>
    "func.return"(%100) : (tensor<2x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), res_attrs = [{}, {}], sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg46: tensor<i32>, %arg47: tensor<i32>):
    %87 = "stablehlo.convert"(%arg46) : (tensor<i32>) -> tensor<i32>
    %88 = "sdy.sharding_constraint"(%87) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    %89 = "stablehlo.convert"(%arg47) : (tensor<i32>) -> tensor<i32>
    %90 = "sdy.sharding_constraint"(%89) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    "func.return"(%90, %88) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [], function_type = () -> (tensor<i32>, tensor<i32>), res_attrs = [{}, {}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
    %85 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %86 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    "func.return"(%85, %86) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg44: tensor<4xi32>, %arg45: tensor<i32>):
    %81 = "stablehlo.dynamic_slice"(%arg44, %arg45) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %82 = "sdy.sharding_constraint"(%81) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi32>) -> tensor<1xi32>
    %83 = "stablehlo.reshape"(%82) : (tensor<1xi32>) -> tensor<i32>
    %84 = "sdy.sharding_constraint"(%83) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    "func.return"(%84) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "clip_0", sym_visibility = "private"}> ({
  ^bb0(%arg41: tensor<i32>, %arg42: tensor<i32>, %arg43: tensor<i32>):
    %77 = "stablehlo.maximum"(%arg43, %arg41) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %78 = "sdy.sharding_constraint"(%77) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    %79 = "stablehlo.minimum"(%arg42, %78) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %80 = "sdy.sharding_constraint"(%79) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    "func.return"(%80) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i1>) -> tensor<4x8xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg38: tensor<4x8xf32>, %arg39: tensor<4x8xf32>, %arg40: tensor<i1>):
    %75 = "stablehlo.select"(%arg40, %arg38, %arg39) : (tensor<i1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %76 = "sdy.sharding_constraint"(%75) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%76) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<3x4x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<3x4x8xf32>, tensor<i32>), res_attrs = [{}, {}], sym_name = "dynamic_update_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<3x4x8xf32>, %arg34: tensor<4x8xf32>, %arg35: tensor<i32>, %arg36: tensor<i32>, %arg37: tensor<i32>):
    %64 = "stablehlo.broadcast_in_dim"(%arg34) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %65 = "sdy.sharding_constraint"(%64) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %66 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %67 = "stablehlo.compare"(%arg35, %66) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %68 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %69 = "stablehlo.add"(%arg35, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %70 = "sdy.sharding_constraint"(%69) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    %71 = "stablehlo.select"(%67, %70, %arg35) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %72 = "sdy.sharding_constraint"(%71) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    %73 = "stablehlo.dynamic_update_slice"(%arg33, %65, %72, %arg36, %arg37) : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %74 = "sdy.sharding_constraint"(%73) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    "func.return"(%74, %72) : (tensor<3x4x8xf32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>, res_attrs = [{}], sym_name = "_where_2", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<i1>, %arg31: tensor<3x4x8xf32>, %arg32: tensor<3x4x8xf32>):
    %62 = "stablehlo.select"(%arg30, %arg31, %arg32) : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %63 = "sdy.sharding_constraint"(%62) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    "func.return"(%63) : (tensor<3x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x4x8xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_3", sym_visibility = "private"}> ({
  ^bb0(%arg27: tensor<4x4x8xf32>, %arg28: tensor<4x8xf32>, %arg29: tensor<i32>):
    %56 = "stablehlo.broadcast_in_dim"(%arg28) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %57 = "sdy.sharding_constraint"(%56) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %58 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %59 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %60 = "stablehlo.dynamic_update_slice"(%arg27, %57, %arg29, %58, %59) : (tensor<4x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4x8xf32>
    %61 = "sdy.sharding_constraint"(%60) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    "func.return"(%61) : (tensor<4x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_4", sym_visibility = "private"}> ({
  ^bb0(%arg24: tensor<4xi32>, %arg25: tensor<i32>, %arg26: tensor<i32>):
    %52 = "stablehlo.broadcast_in_dim"(%arg25) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %53 = "sdy.sharding_constraint"(%52) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi32>) -> tensor<1xi32>
    %54 = "stablehlo.dynamic_update_slice"(%arg24, %53, %arg26) : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
    %55 = "sdy.sharding_constraint"(%54) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi32>) -> tensor<4xi32>
    "func.return"(%55) : (tensor<4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xi1>, tensor<i1>, tensor<i32>) -> tensor<4xi1>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_5", sym_visibility = "private"}> ({
  ^bb0(%arg21: tensor<4xi1>, %arg22: tensor<i1>, %arg23: tensor<i32>):
    %48 = "stablehlo.broadcast_in_dim"(%arg22) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
    %49 = "sdy.sharding_constraint"(%48) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi1>) -> tensor<1xi1>
    %50 = "stablehlo.dynamic_update_slice"(%arg21, %49, %arg23) : (tensor<4xi1>, tensor<1xi1>, tensor<i32>) -> tensor<4xi1>
    %51 = "sdy.sharding_constraint"(%50) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<4xi1>) -> tensor<4xi1>
    "func.return"(%51) : (tensor<4xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<3x4x8xf32>, tensor<i32>) -> tensor<3x4x8xf32>, res_attrs = [{}], sym_name = "_where_6", sym_visibility = "private"}> ({
  ^bb0(%arg18: tensor<i1>, %arg19: tensor<3x4x8xf32>, %arg20: tensor<i32>):
    %42 = "stablehlo.convert"(%arg20) : (tensor<i32>) -> tensor<f32>
    %43 = "sdy.sharding_constraint"(%42) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4x8xf32>
    %45 = "sdy.sharding_constraint"(%44) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %46 = "stablehlo.select"(%arg18, %arg19, %45) : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %47 = "sdy.sharding_constraint"(%46) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    "func.return"(%47) : (tensor<3x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i1>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>, res_attrs = [{}], sym_name = "_where_7", sym_visibility = "private"}> ({
  ^bb0(%arg16: tensor<i1>, %arg17: tensor<3x4x8xf32>):
    %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4x8xf32>
    %39 = "sdy.sharding_constraint"(%38) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %40 = "stablehlo.select"(%arg16, %arg17, %39) : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %41 = "sdy.sharding_constraint"(%40) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    "func.return"(%41) : (tensor<3x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_8", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<4x4x8xf32>, %arg15: tensor<i32>):
    %31 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %32 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %33 = "stablehlo.dynamic_slice"(%arg14, %arg15, %31, %32) <{slice_sizes = array<i64: 1, 4, 8>}> : (tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %34 = "sdy.sharding_constraint"(%33) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %35 = "stablehlo.reshape"(%34) : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %36 = "sdy.sharding_constraint"(%35) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%36) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_9", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<4xi32>, %arg13: tensor<i32>):
    %27 = "stablehlo.dynamic_slice"(%arg12, %arg13) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %28 = "sdy.sharding_constraint"(%27) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi32>) -> tensor<1xi32>
    %29 = "stablehlo.reshape"(%28) : (tensor<1xi32>) -> tensor<i32>
    %30 = "sdy.sharding_constraint"(%29) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i32>) -> tensor<i32>
    "func.return"(%30) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi1>, tensor<i32>) -> tensor<i1>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_10", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<4xi1>, %arg11: tensor<i32>):
    %23 = "stablehlo.dynamic_slice"(%arg10, %arg11) <{slice_sizes = array<i64: 1>}> : (tensor<4xi1>, tensor<i32>) -> tensor<1xi1>
    %24 = "sdy.sharding_constraint"(%23) <{sharding = #sdy.sharding<@mesh, [{?}]>}> : (tensor<1xi1>) -> tensor<1xi1>
    %25 = "stablehlo.reshape"(%24) : (tensor<1xi1>) -> tensor<i1>
    %26 = "sdy.sharding_constraint"(%25) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<i1>) -> tensor<i1>
    "func.return"(%26) : (tensor<i1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i1>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<3x4x8xf32>), res_attrs = [{}, {}], sym_name = "_where_11", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<i1>, %arg9: tensor<3x4x8xf32>):
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4x8xf32>
    %18 = "sdy.sharding_constraint"(%17) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %19 = "stablehlo.select"(%arg8, %18, %arg9) : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %20 = "sdy.sharding_constraint"(%19) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %21 = "stablehlo.select"(%arg8, %arg9, %18) : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %22 = "sdy.sharding_constraint"(%21) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    "func.return"(%22, %20) : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<4x8xf32>), res_attrs = [{}, {}], sym_name = "dynamic_update_index_in_dim_12", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<3x4x8xf32>):
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x8xf32>
    %7 = "sdy.sharding_constraint"(%6) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %8 = "stablehlo.dynamic_update_slice"(%arg5, %7, %arg2, %arg3, %arg4) : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %9 = "sdy.sharding_constraint"(%8) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
    %10 = "stablehlo.dynamic_slice"(%arg5, %arg2, %arg3, %arg4) <{slice_sizes = array<i64: 1, 4, 8>}> : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %11 = "sdy.sharding_constraint"(%10) <{sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}> : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.reduce"(%11, %12) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %15 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) : (tensor<1x4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %14 = "sdy.sharding_constraint"(%13) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%9, %14) : (tensor<3x4x8xf32>, tensor<4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32>, res_attrs = [{}], sym_name = "_where_13", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<4x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
    %2 = "sdy.sharding_constraint"(%1) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = "stablehlo.select"(%arg0, %2, %arg1) : (tensor<i1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = "sdy.sharding_constraint"(%3) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%4) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
