# What does a switch of weights cost? Each layer streams B rows through each of eight matrices of 128 x 128.
.tensor_core 128 128
.layer "B = 8" product; .layer "B = 64" product; .layer "B = 128" product
.layer "B = 129" product; .layer "B = 512" product
tag 1; .repeat 8; load_weights src=0 depth=128 columns=128; product dst=8192 src=128 rows=8 depth=128 columns=128; .end
tag 2; .repeat 8; load_weights src=0 depth=128 columns=128; product dst=8192 src=128 rows=64 depth=128 columns=128; .end
tag 3; .repeat 8; load_weights src=0 depth=128 columns=128; product dst=8192 src=128 rows=128 depth=128 columns=128; .end
tag 4; .repeat 8; load_weights src=0 depth=128 columns=128; product dst=8192 src=128 rows=129 depth=128 columns=128; .end
tag 5; .repeat 8; load_weights src=0 depth=128 columns=128; product dst=8192 src=128 rows=512 depth=128 columns=128; .end
tag 0; halt
