"""The traps that a tracer can fall into, and the test of each."""

import pytest
import torch

from tracer import test_tensor_classes as classes
from tracer import test_traps_functions as functions
from tracer import test_traps_modules as modules
from tracer import test_traps_values as values
from tracer.traced_graph import DoubleInPlace

TRAPS = {
    "autograd_function": (functions.test_autograd_function_is_one_op, functions.Cube),
    "autograd_function_dirty": (functions.test_autograd_function_is_one_op, DoubleInPlace),
    "autograd_function_numpy": (functions.test_autograd_function_is_one_op, functions.SquareInNumpy),
    "custom_op": (functions.test_custom_op_has_its_own_name,),
    "custom_op_mutating": (functions.test_custom_op_that_writes_in_place_reaches_later_readers,),
    "aten_overload": (functions.test_aten_overload_and_packet, torch.ops.aten.mul.Tensor),
    "aten_packet": (functions.test_aten_overload_and_packet, torch.ops.aten.mul),
    "scripted_submodule": (functions.test_scripted_submodule_is_one_opaque_op, torch.jit.script),
    "traced_submodule": (functions.test_scripted_submodule_is_one_opaque_op, functions.traced),
    "scripted_model": (functions.test_scripted_model_is_one_opaque_op,),
    "script_function": (functions.test_script_function_is_one_opaque_op,),
    "compiled_submodule": (functions.test_compiled_submodule_runs_eager,),
    "compiled_function": (functions.test_compiled_function_runs_eager,),
    "compiled_model": (functions.test_compiled_model_is_unwrapped,),
    "direct_forward": (modules.test_direct_forward_is_a_module_call,),
    "recursion": (modules.test_recursion,),
    "inplace_on_view": (values.test_write_through_a_view_reaches_later_readers,),
    "setitem": (values.test_setitem,),
    "setitem_on_buffer": (values.test_setitem_on_a_fresh_tensor,),
    "kwargs_only": (values.test_keyword_arguments_have_their_names,),
    "dict_input": (values.test_nested_dict_input,),
    "dataclass_output": (values.test_dataclass_output,),
    "early_import": (functions.test_function_imported_before_trace_is_recorded,),
    "stored_function": (functions.test_function_stored_in_dict_is_recorded,),
    "vmap": (functions.test_vmap,),
    "func_grad": (functions.test_func_grad,),
    "func_jvp": (functions.test_func_jvp,),
    "functional_call": (functions.test_functional_call_with_computed_weights,),
    "checkpoint_reentrant": (functions.test_checkpoint_shows_ops_inside, True),
    "checkpoint_nonreentrant": (functions.test_checkpoint_shows_ops_inside, False),
    "autocast": (functions.test_autocast,),
    "data_parallel": (modules.test_data_parallel,),
    "numpy_view": (values.test_numpy_round_trip_by_shared_memory,),
    "numpy_copy": (values.test_numpy_round_trip_by_copy,),
    "item_scalar": (values.test_item_is_an_op,),
    "out_kwarg": (values.test_out_argument,),
    "eval_dropout_residual": (values.test_dropout_in_eval_is_separate_from_residual,),
    "contiguous_residual": (values.test_function_that_returns_its_argument, torch.Tensor.contiguous),
    "identity_module": (modules.test_identity_is_one_op,),
    "inplace_relu_residual": (values.test_in_place_relu_changes_the_residual_too,),
    "iadd_residual": (values.test_in_place_add,),
    "transformer_fastpath": (modules.test_transformer_does_not_take_opaque_fast_path,),
    "mha": (modules.test_multihead_attention,),
    "lstm": (modules.test_lstm_is_a_leaf_that_owns_its_weights,),
    "packed_lstm": (modules.test_packed_sequence,),
    "thread_pool": (modules.test_modules_on_other_threads,),
    "forward_hook_replaces": (modules.test_forward_hook_that_replaces_the_output,),
    "weight_norm": (modules.test_parametrization_stays_inside_its_module,),
    "einsum": (functions.test_einsum,),
    "fx_graphmodule": (functions.test_fx_graph_module,),
    "dynamic_quant": (modules.test_dynamic_quantisation,),
    "sparse_mm": (classes.test_sparse,),
    "nested_tensor": (classes.test_nested_tensor_given_as_a_list,),
    "nested_as_tensor": (classes.test_nested_tensor_of_computed_parts,),
    "error_midway": (values.test_error_midway_keeps_earlier_ops,),
    "cond_hop": (functions.test_cond,),
    "flex_attention": (functions.test_flex_attention,),
    "tensor_subclass": (classes.test_tensor_subclass,),
    "data_assign": (values.test_data_assignment,),
    "state_cache": (modules.test_state_in_module_attribute_has_edge,),
    "jit_fork": (functions.test_jit_fork,),
    "foreach": (values.test_foreach,),
    "unbind_loop": (modules.test_loop_over_rows,),
    "bool_branch": (values.test_bool_is_an_op,),
    "shared_module_twice": (modules.test_module_called_twice,),
    "sdpa": (functions.test_attention_has_its_public_name,),
    "properties": (functions.test_tensor_properties_are_ops,),
    "split_chunks": (values.test_chunks_are_separate_outputs,),
    "shape_arith": (values.test_shape_reads_are_not_ops,),
    "meta_input": (modules.test_meta_model,),
    "tied_weights": (modules.test_weight_used_outside_its_module_is_a_node,),
}
"""Trap → its test, and with which parameter if it has several."""


@pytest.mark.parametrize("trap", TRAPS)
def test_trap_has_its_own_test(trap):
    test, *wanted = TRAPS[trap]
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    given = [part for mark in marks for case in mark.args[1] for part in (case if isinstance(case, tuple) else [case])]
    assert test.__name__.startswith("test_")
    assert all(any(parameter is part for part in given) for parameter in wanted)
    assert not any(mark.name in ("skip", "skipif", "xfail") for mark in getattr(test, "pytestmark", []))
    assert sum(other == TRAPS[trap] for other in TRAPS.values()) == 1


def test_every_trap_test_is_listed():
    assert len(TRAPS) == 71
