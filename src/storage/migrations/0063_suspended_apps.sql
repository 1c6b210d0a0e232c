-- What is to be sent is asked without the apps that are suspended; there are hardly ever any.
create index apps_suspended on apps (id) where suspended;
