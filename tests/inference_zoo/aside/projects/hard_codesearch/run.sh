python -m hard_codesearch.run \
    --output_dir=./saved_models/python \
    --config_name=config.json \
    --do_train --do_eval \
    --train_data_file=dataset/python/train.jsonl \
    --eval_data_file=dataset/python/valid.jsonl \
    --num_train_epochs 10 \
    --code_length 256 --data_flow_length 64 --nl_length 128 \
    --train_batch_size 32 --eval_batch_size 64 \
    --learning_rate 2e-5 --seed 123456 2>&1 | tee saved_models/python/train.log
