"""How programs of the tests are compiled that only show whether formulas and rules are right."""

# Where a file asks for this, others of its tests, or those of what its functions are made of,
# compile as users do.
QUICK_TO_COMPILE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}
